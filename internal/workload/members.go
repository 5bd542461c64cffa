// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Members is what was read of an application's StatefulSet. The zero Members is of one
// that has none.
type Members struct {
	Set *appsv1.StatefulSet
	// Pods are its pods by name, and those that no one has while it is recreated.
	Pods map[string]*corev1.Pod
	// Former are pods of an earlier StatefulSet by name: for as long as one is there, no other
	// can have its name.
	Former map[string]*corev1.Pod
	// Refusal is that of a missing pod, for anyone who looks for one to fill in.
	Refusal Refusal
	// Behind: the StatefulSet that was read is older than our own last write of it.
	Behind bool
}

// ObserveMembers reads the StatefulSet of an owner, with its pods.
func ObserveMembers(ctx context.Context, reader client.Reader, owner client.Object, id Identity) (Members, error) {
	m, set := Members{Pods: map[string]*corev1.Pod{}, Former: map[string]*corev1.Pod{}}, &appsv1.StatefulSet{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, set)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return m, fmt.Errorf("read StatefulSet: %w", err)
	case err == nil && metav1.IsControlledBy(set, owner):
		m.Set = set // else someone else's, or that of an earlier object of this name
	}
	pods := &corev1.PodList{}
	if err := reader.List(ctx, pods, client.InNamespace(id.Namespace), client.MatchingLabels(id.Selector)); err != nil {
		return m, fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		switch controller := metav1.GetControllerOf(pod); {
		case m.has(pod):
			m.Pods[pod.Name] = pod
		case controller != nil && controller.Kind == "StatefulSet" && controller.Name == id.Name:
			m.Former[pod.Name] = pod
		}
	}
	return m, nil
}

// has reports whether a pod is one of these: one that the StatefulSet controls, or that it,
// or the one before it, has made and that no one controls at the moment. Pods of a
// predecessor have the same names for as long as they are not collected.
func (m Members) has(pod *corev1.Pod) bool {
	controller := metav1.GetControllerOf(pod)
	if controller == nil {
		return pod.Labels[appsv1.StatefulSetPodNameLabel] == pod.Name
	}
	return m.Set != nil && controller.UID == m.Set.UID
}

// Recall compares what was read with what the operator itself remembers to have written.
func (m *Members) Recall(writes *ensure.Writes) {
	m.Behind = m.Set != nil && writes.Behind(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), m.Set)
}

// Replicas is how many pods there are to be.
func (m Members) Replicas() int32 {
	if m.Set == nil || m.Set.Spec.Replicas == nil {
		return 0
	}
	return *m.Set.Spec.Replicas
}

// Names are those of the first n pods, in the order of their ordinals.
func (id Identity) Names(n int32) []string {
	out := make([]string, 0, n)
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%d", id.Name, i))
	}
	return out
}

// Ready is how many of the pods of these names serve.
func (m Members) Ready(names []string) int32 {
	var n int32
	for _, name := range names {
		if pod := m.Pods[name]; pod != nil && Ready(pod) {
			n++
		}
	}
	return n
}

// Missing reports whether there are fewer pods than there are to be.
func (m Members) Missing() bool { return m.Set != nil && int32(len(m.Pods)) < m.Replicas() }

// Rolling reports whether the StatefulSet has not carried out its last change yet. Its
// revisions do not tell: taking a change back makes them the same at once. A pod that is stuck on its way
// out counts as one of its replicas and never as updated (Kubernetes: stateful_set_control.go).
func (m Members) Rolling(now time.Time) bool {
	status := m.Set.Status
	return status.ObservedGeneration < m.Set.Generation || status.UpdatedReplicas < status.Replicas-m.stuck(now)
}

// Going reports whether there are more pods than there are to be, and not because some are stuck.
func (m Members) Going(now time.Time) bool { return int32(len(m.Pods))-m.stuck(now) > m.Replicas() }

func (m Members) stuck(now time.Time) int32 { return int32(len(StuckOf(surplus(m.Set, m.Pods), now))) }

// Leftovers are the pods that are stuck and whose names no pod is to have.
func (m Members) Leftovers(now time.Time) Leftovers { return StuckOf(m.surplus(), now) }

// StuckIn is how long it takes until another pod counts as one of the leftovers; 0: none is about to.
func (m Members) StuckIn(now time.Time) time.Duration { return StuckIn(m.surplus(), now) }

func (m Members) surplus() []*corev1.Pod {
	return append(surplus(m.Set, m.Pods), surplus(m.Set, m.Former)...)
}

// Within are the pods that there are to be, in the order of their names.
func (m Members) Within() []*corev1.Pod {
	extra := surplus(m.Set, m.Pods)
	var out []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(m.Pods)) {
		if !slices.Contains(extra, m.Pods[name]) {
			out = append(out, m.Pods[name])
		}
	}
	return out
}

// surplus are the pods whose ordinals are above those that a StatefulSet is to have.
func surplus(set *appsv1.StatefulSet, pods map[string]*corev1.Pod) []*corev1.Pod {
	if set == nil || set.Spec.Replicas == nil {
		return nil
	}
	var out []*corev1.Pod
	for name, pod := range pods {
		ordinal, err := strconv.Atoi(strings.TrimPrefix(name, set.Name+"-"))
		if err == nil && ordinal >= int(*set.Spec.Replicas) {
			out = append(out, pod)
		}
	}
	return out
}

// Report sets a condition that reports whether all pods run what is wanted and are ready.
// noun is what users call them, such as clients; wanted is how many the spec asks for.
func (m Members) Report(set condition.Set, kind, noun string, names []string, done kit.Outcome) {
	n, wanted := m.Replicas(), int32(len(names))
	ready := m.Ready(names)
	switch {
	case m.Set == nil:
		m.reportNone(set, kind, noun, names)
	case n != wanted:
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("The number of %s goes from %d to %d", noun, n, wanted))
	case m.Behind || Changing(done, "StatefulSet"): // a refusal would be of the spec before
		set.False(kind, common.ReasonUpdating, "The StatefulSet is being changed")
	case m.Refusal.Words != "":
		set.False(kind, common.ReasonPodsMissing, fmt.Sprintf("%d of %d %s cannot be made: %s", int(n)-len(m.Pods), n, noun, m.Refusal.Words))
	case ready < n:
		why, reason := m.FirstCause(names)
		set.False(kind, reason, fmt.Sprintf("%d of %d %s are ready; %s", ready, n, noun, why))
	case m.Rolling(set.Now):
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("%d of %d %s are changed", m.Set.Status.UpdatedReplicas, n, noun))
	default:
		set.True(kind, common.ReasonAllPodsReady, fmt.Sprintf("%d of %d %s are ready", ready, n, noun))
	}
}

// FirstCause names the first pod that is not ready, and why; one that may need a hand goes
// before those that are on their way.
func (m Members) FirstCause(names []string) (cause, reason string) {
	for _, name := range names {
		why, stuck := m.why(name)
		if stuck {
			return name + ": " + why, common.ReasonPodsNotReady
		}
		if cause == "" && why != "" {
			cause = name + ": " + why
		}
	}
	return cause, common.ReasonUpdating
}

// why says what keeps the pod of a name from being ready.
func (m Members) why(name string) (why string, stuck bool) {
	if pod := m.Pods[name]; pod != nil {
		return WhyNotReady(pod)
	}
	if former := m.Former[name]; former != nil {
		why, stuck = WhyNotReady(former)
		return "its pod is made when that of an earlier StatefulSet has gone: " + cmp.Or(why, "it is about to go"), stuck
	}
	return "its pod is being made", false
}

// reportNone says why there is no StatefulSet; pods of an earlier one can be what is waited for.
func (m Members) reportNone(set condition.Set, kind, noun string, names []string) {
	if cause, reason := m.FirstCause(names); reason == common.ReasonPodsNotReady {
		set.False(kind, reason, "The "+noun+" are being made; "+cause)
		return
	}
	set.False(kind, common.ReasonApplying, "The "+noun+" are being made")
}

// Bound are the pods that a kubelet runs, or may have begun to.
func Bound(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool {
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		return pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil || ended
	})
}
