// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
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

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Members holds the StatefulSet of an application and its pods, as they were read. The zero value means that there is
// no StatefulSet.
type Members struct {
	Set *appsv1.StatefulSet
	// Pods maps names to the pods of the StatefulSet. While opcrew recreates the StatefulSet, its pods have no
	// controller, but they are still included.
	Pods map[string]*corev1.Pod
	// Former maps names to pods of an earlier StatefulSet. Until they are deleted, no new pod can have these names.
	Former map[string]*corev1.Pod
	// Refusal explains why a pod is missing. The caller sets it.
	Refusal Refusal
	// Behind is true if the cached StatefulSet is older than opcrew's last write of it.
	Behind bool
}

// ObserveMembers reads the StatefulSet of an owner and its pods.
func ObserveMembers(ctx context.Context, reader client.Reader, owner client.Object, id Identity) (Members, error) {
	m, set := Members{Pods: map[string]*corev1.Pod{}, Former: map[string]*corev1.Pod{}}, &appsv1.StatefulSet{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, set)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return m, fmt.Errorf("read StatefulSet: %w", err)
	case err == nil && metav1.IsControlledBy(set, owner):
		m.Set = set // otherwise the StatefulSet belongs to another owner, or to an earlier object with this name
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

// has reports whether a pod belongs to this application: the StatefulSet controls it, or it has no controller and was
// created by this StatefulSet or the one that opcrew replaced. A pod that an earlier StatefulSet still controls does
// not belong to this application, even if it has the same name.
func (m Members) has(pod *corev1.Pod) bool {
	controller := metav1.GetControllerOf(pod)
	if controller == nil {
		return pod.Labels[appsv1.StatefulSetPodNameLabel] == pod.Name
	}
	return m.Set != nil && controller.UID == m.Set.UID
}

// Recall sets Behind by comparing the cached StatefulSet with opcrew's last write of it.
func (m *Members) Recall(writes *ensure.Applier) {
	m.Behind = m.Set != nil && writes.Behind(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), m.Set)
}

// Replicas returns the number of pods that the StatefulSet requests.
func (m Members) Replicas() int32 {
	if m.Set == nil || m.Set.Spec.Replicas == nil {
		return 0
	}
	return *m.Set.Spec.Replicas
}

// Names returns the names of the first n pods, in the order of their ordinals.
func (id Identity) Names(n int32) []string {
	out := make([]string, 0, n)
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%d", id.Name, i))
	}
	return out
}

// Ready counts the ready pods with one of these names.
func (m Members) Ready(names []string) int32 {
	var n int32
	for _, name := range names {
		if pod := m.Pods[name]; pod != nil && Ready(pod) {
			n++
		}
	}
	return n
}

// Missing reports whether there are fewer pods than the StatefulSet requests.
func (m Members) Missing() bool { return m.Set != nil && int32(len(m.Pods)) < m.Replicas() }

// Rolling reports whether the StatefulSet is still rolling out its last change. The revisions in its status do not show
// this: they become equal at once when a change is reverted. The StatefulSet controller counts a stuck pod as a replica
// that is never updated (stateful_set_control.go).
func (m Members) Rolling(now time.Time) bool {
	status := m.Set.Status
	return status.ObservedGeneration < m.Set.Generation || status.UpdatedReplicas < status.Replicas-m.stuck(now)
}

// ScalingDown reports whether there are more pods than the StatefulSet requests. Stuck pods do not count.
func (m Members) ScalingDown(now time.Time) bool {
	return int32(len(m.Pods))-m.stuck(now) > m.Replicas()
}

func (m Members) stuck(now time.Time) int32 { return int32(len(StuckOf(surplus(m.Set, m.Pods), now))) }

// Leftovers returns the stuck pods beyond the requested number of pods.
func (m Members) Leftovers(now time.Time) Leftovers { return StuckOf(m.surplus(), now) }

// StuckIn returns the time until another surplus pod counts as a leftover; 0 if none will.
func (m Members) StuckIn(now time.Time) time.Duration { return StuckIn(m.surplus(), now) }

func (m Members) surplus() []*corev1.Pod {
	return append(surplus(m.Set, m.Pods), surplus(m.Set, m.Former)...)
}

// Within returns the pods whose ordinals are below the number of pods that the StatefulSet requests, sorted by name.
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

// surplus returns the pods whose ordinals are beyond the requested number of pods.
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

// Bound returns the pods that are assigned to a node, have not ended and are not being deleted. A kubelet may already
// have started them.
func Bound(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool {
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		return pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil || ended
	})
}
