// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// reconciler is keyed by an Activity.
type reconciler struct {
	*kit.Tools
}

// facts are all that is read about an Activity.
type facts struct {
	// pod is that of the present run, nil for none; former those of earlier ones.
	pod    *corev1.Pod
	former []corev1.Pod
	// begin is what a run that has no pod yet needs to know, nil where none is to begin.
	begin *beginning
	// host is that of the run, nil where nobody has asked.
	host *hostState
	// hostAnswers is asked only where the end of a pod is waited for.
	hostAnswers bool
	// secrets hold values of runs.
	secrets []corev1.Secret
	// children are the Activities that were made from a schedule, and agenda what it asks for.
	children    []egov1.Activity
	agenda      agenda
	helperImage string
}

// beginning is what has to be known before a pod is made.
type beginning struct {
	// obstacle, if any, keeps it from being made.
	obstacle *obstacle
	// values are those of secretEnvs, by the variables' names.
	values map[string][]byte
	// order is what the runner is told, and boot tells the host's present boot from the next.
	order, boot string
}

// obstacle is why a run does not begin. A final one ends it.
type obstacle struct {
	final           bool
	reason, message string
}

// Observe reads what belongs to an Activity.
func (r *reconciler) Observe(ctx context.Context, a *egov1.Activity) (facts, error) {
	f := facts{helperImage: r.HelperImage}
	if scheduled(a) {
		return f, r.observeSchedule(ctx, a, &f)
	}
	if err := r.observePods(ctx, a, &f); err != nil {
		return f, err
	}
	if err := r.observeSecrets(ctx, a, &f); err != nil {
		return f, err
	}
	var err error
	switch {
	case a.DeletionTimestamp != nil:
		if f.host, err = r.readHost(ctx, a.Spec.Host); err == nil {
			f.hostAnswers = f.host.ready
		}
	case explains(a, f, r.Clock.Now()):
		f.host, _ = r.readHost(ctx, a.Spec.Host) // what cannot be read explains nothing
	case begins(a, f):
		f.begin, err = r.observeBeginning(ctx, a)
	}
	return f, err
}

// begins tells whether the next thing to do is to make the pod: the run is written down, and
// had none.
func begins(a *egov1.Activity, f facts) bool {
	return f.pod == nil && a.Status.Run == run(a) && a.Status.PodUID == "" && !over(a) && !a.Spec.Cancel
}

func (r *reconciler) observePods(ctx context.Context, a *egov1.Activity, f *facts) error {
	list := &corev1.PodList{}
	if err := r.Client.List(ctx, list, client.InNamespace(Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].Name == podName(a, run(a)) {
			f.pod = &list.Items[i]
		} else {
			f.former = append(f.former, list.Items[i])
		}
	}
	if f.pod != nil || !takesItForGone(a) {
		return nil
	}
	pod := &corev1.Pod{}
	err := r.Live.Get(ctx, podKey(a), pod)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read pod: %w", err)
	}
	if err == nil {
		f.pod = pod
	}
	return nil
}

// takesItForGone tells whether something rests on there being no pod: that the command's end is
// not known, that it never began, or that nothing is left of it. A cache may not have it yet.
func takesItForGone(a *egov1.Activity) bool {
	return a.DeletionTimestamp != nil || a.Status.Run == run(a) && !over(a) && (a.Status.PodUID != "" || a.Spec.Cancel)
}

func (r *reconciler) observeSecrets(ctx context.Context, a *egov1.Activity, f *facts) error {
	if len(a.Spec.SecretEnvs) == 0 {
		return nil
	}
	var reader client.Reader = r.Client
	if a.DeletionTimestamp != nil {
		reader = r.Live // nothing must be left
	}
	list := &corev1.SecretList{}
	if err := reader.List(ctx, list, client.InNamespace(Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("read values of secretEnvs: %w", err)
	}
	f.secrets = list.Items
	return nil
}

// hasValues tells whether those of the present run are there for its pod.
func (f facts) hasValues(a *egov1.Activity) bool {
	return slices.ContainsFunc(f.secrets, func(s corev1.Secret) bool { return s.Name == podName(a, run(a)) })
}

// observeBeginning asks whether the run may begin, and reads what it needs.
func (r *reconciler) observeBeginning(ctx context.Context, a *egov1.Activity) (*beginning, error) {
	node := &corev1.Node{}
	err := r.Live.Get(ctx, types.NamespacedName{Name: a.Spec.Host}, node)
	if apierrors.IsNotFound(err) {
		return &beginning{obstacle: &obstacle{reason: egov1.ReasonHostMissing, message: "there is no node " + a.Spec.Host}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", a.Spec.Host, err)
	}
	b := &beginning{boot: node.Status.NodeInfo.BootID}
	if b.obstacle, err = r.permit(ctx, a, node); err != nil || b.obstacle != nil {
		return b, err
	}
	if b.values, b.obstacle, err = r.values(ctx, a); err != nil || b.obstacle != nil {
		return b, err
	}
	oldest, err := r.oldestOn(ctx, a.Spec.Host)
	if err != nil {
		return nil, err
	}
	if b.order, err = orderOf(a, oldest, b.boot); err != nil {
		b.obstacle = &obstacle{final: true, reason: egov1.ReasonNotStarted, message: err.Error()}
	}
	return b, nil
}

// mayRun tells whether a pod of an Activity may still be begun somewhere.
func mayRun(a *egov1.Activity) bool {
	return !over(a) || a.Status.Prosta == egov1.StateUnreachable || a.Status.Prosta == egov1.StateUnknown
}

// oldestOn is when the oldest Activity of a host that may still run was created: the host may
// forget runs of older ones. Whoever does not see all Activities tells it nothing.
func (r *reconciler) oldestOn(ctx context.Context, host string) (time.Time, error) {
	oldest := time.Time{}
	if r.Limited() {
		return oldest, nil
	}
	list := &egov1.ActivityList{}
	if err := r.Client.List(ctx, list, client.MatchingFields{hostIndex: host}, client.UnsafeDisableDeepCopy); err != nil {
		return oldest, fmt.Errorf("list Activities of host %s: %w", host, err)
	}
	for i := range list.Items {
		other := &list.Items[i]
		if created := other.CreationTimestamp.Time; mayRun(other) && (oldest.IsZero() || created.Before(oldest)) {
			oldest = created
		}
	}
	return oldest, nil
}

// values reads those of secretEnvs.
func (r *reconciler) values(ctx context.Context, a *egov1.Activity) (map[string][]byte, *obstacle, error) {
	values := map[string][]byte{}
	for _, e := range a.Spec.SecretEnvs {
		secret := &corev1.Secret{}
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: a.Namespace, Name: e.Secret}, secret)
		if client.IgnoreNotFound(err) != nil {
			return nil, nil, fmt.Errorf("read Secret %s: %w", e.Secret, err)
		}
		value, ok := secret.Data[e.Key]
		if !ok {
			return nil, &obstacle{reason: egov1.ReasonSecretMissing, message: fmt.Sprintf("secretEnvs: there is no key %s in a Secret %s", e.Key, e.Secret)}, nil
		}
		values[e.Name] = value
	}
	return values, nil, nil
}

func (r *reconciler) observeSchedule(ctx context.Context, a *egov1.Activity, f *facts) error {
	list := &egov1.ActivityList{}
	if err := r.Client.List(ctx, list, client.InNamespace(a.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("list Activities of the schedule: %w", err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], a) { // a label alone is anybody's
			f.children = append(f.children, list.Items[i])
		}
	}
	f.agenda = agendaOf(a, *f, r.Clock.Now())
	if f.agenda.due.IsZero() || f.agenda.skip || idle(a) {
		return nil
	}
	var err error
	f.agenda.obstacle, err = r.vouched(ctx, a)
	return err
}
