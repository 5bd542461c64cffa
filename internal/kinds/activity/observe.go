// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// Observe reads the objects of an Activity and the state of its host.
func (r *reconciler) Observe(ctx context.Context, a *egov1.Activity) (facts, error) {
	f := facts{agentImage: r.AgentImage}
	switch {
	case fleet.Is(a):
		err := fleets{r}.observe(ctx, a, &f)
		return f, err
	case run.Scheduled(a):
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
		if f.hostAnswers, err = r.answers(ctx, a, f); err != nil {
			break
		}
		f.unrecorded, err = r.unrecorded(ctx, a)
	case run.Explains(a, f.pod, r.Clock.Now()):
		f.host, _ = r.readHost(ctx, run.NodeOf(a, f.pod)) // if the node cannot be read, the state of the host stays unknown
	case begins(a, f):
		f.begin, err = r.observeBeginning(ctx, a)
	}
	return f, err
}

// begins reports whether the pod should be created next: the status records the run of an Activity, and the run never
// had a pod.
func begins(a *egov1.Activity, f facts) bool {
	return f.pod == nil && a.Status.Run == run.Number(a) && a.Status.PodUID == "" && !run.Over(a) && !a.Spec.Cancel
}

func (r *reconciler) observePods(ctx context.Context, a *egov1.Activity, f *facts) error {
	list := &corev1.PodList{}
	if err := r.Client.List(ctx, list, client.InNamespace(run.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].Name == run.PodName(a, run.Number(a)) {
			f.pod = &list.Items[i]
		} else {
			f.former = append(f.former, list.Items[i])
		}
	}
	if f.pod != nil || !takesItForGone(a) {
		return nil
	}
	pod := &corev1.Pod{}
	err := r.Live.Get(ctx, run.PodKey(a), pod)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read pod: %w", err)
	}
	if err == nil {
		f.pod = pod
	}
	return nil
}

// takesItForGone reports whether opcrew is about to act because the pod does not exist, for example to end a run or to
// remove the finalizer of a deleted Activity. The cache may be stale, so opcrew then reads the pod from the API server.
func takesItForGone(a *egov1.Activity) bool {
	return a.DeletionTimestamp != nil || a.Status.Run == run.Number(a) && !run.Over(a) && (a.Status.PodUID != "" || a.Spec.Cancel)
}

// answers reports whether the nodes respond on which pods of a deleted Activity have not ended.
func (r *reconciler) answers(ctx context.Context, a *egov1.Activity, f facts) (bool, error) {
	nodes := map[string]bool{}
	for _, pod := range f.pods() {
		if node := run.NodeOf(a, &pod); !run.Ended(&pod) && node != "" {
			nodes[node] = true
		}
	}
	for node := range nodes {
		host, err := r.readHost(ctx, node)
		if err != nil || !host.Ready {
			return false, err
		}
	}
	return true, nil
}

// readHost reads the node of a host from the API server, because a run must not depend on a stale boot ID. It returns
// nil if the node is not known.
func (r *reconciler) readHost(ctx context.Context, host string) (*run.Host, error) {
	if host == "" {
		return nil, nil
	}
	node := &corev1.Node{}
	err := r.Live.Get(ctx, types.NamespacedName{Name: host}, node)
	if apierrors.IsNotFound(err) {
		return &run.Host{Missing: true}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", host, err)
	}
	return run.StateOf(node), nil
}
