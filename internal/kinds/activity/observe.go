// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
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
	// host is that of the run, nil where no one has asked.
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

// Observe reads what belongs to an Activity.
func (r *reconciler) Observe(ctx context.Context, a *egov1.Activity) (facts, error) {
	f := facts{helperImage: r.HelperImage}
	if scheduled(a) {
		err := r.observeSchedule(ctx, a, &f)
		return f, err
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

// begins reports whether the next thing to do is to make the pod: the run is written down, and
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

// takesItForGone reports whether something rests on there being no pod: that the command's end is
// not known, that it never began, or that nothing is left of it. A cache may not have it yet.
func takesItForGone(a *egov1.Activity) bool {
	return a.DeletionTimestamp != nil || a.Status.Run == run(a) && !over(a) && (a.Status.PodUID != "" || a.Spec.Cancel)
}
