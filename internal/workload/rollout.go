// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// revisionAnnotation orders the ReplicaSets of a Deployment.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// Rollout is what was read of an application's Deployment. The zero Rollout is of one
// that has none.
type Rollout struct {
	Deployment *appsv1.Deployment
	// Sets are its ReplicaSets, the newest revision first.
	Sets []appsv1.ReplicaSet
	// Pods are those of its ReplicaSets, by name.
	Pods []corev1.Pod
	// Former are pods of an earlier Deployment of the name that are on their way out: they may
	// have what the new ones wait for, such as a volume.
	Former []corev1.Pod
	// Behind: the Deployment that was read is older than our own last write of it. By the
	// time that the children are looked at, the cache may have caught up, so that nothing
	// reports the change any more but this.
	Behind bool
}

// Recall compares what was read with what the operator itself remembers to have written.
func (r *Rollout) Recall(writes *ensure.Writes) {
	r.Behind = r.Deployment != nil && writes.Behind(appsv1.SchemeGroupVersion.WithKind("Deployment"), r.Deployment)
}

// ObserveRollout reads the Deployment of an owner, with what belongs to it.
func ObserveRollout(ctx context.Context, reader client.Reader, owner client.Object, id Identity) (Rollout, error) {
	d := &appsv1.Deployment{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, d)
	switch {
	case apierrors.IsNotFound(err):
		return Rollout{}, nil
	case err != nil:
		return Rollout{}, fmt.Errorf("read Deployment: %w", err)
	case !metav1.IsControlledBy(d, owner):
		return Rollout{}, nil // somebody else's, or that of an earlier object of this name
	}
	r := Rollout{Deployment: d}
	sets, pods := &appsv1.ReplicaSetList{}, &corev1.PodList{}
	for _, list := range []client.ObjectList{sets, pods} {
		if err := reader.List(ctx, list, client.InNamespace(id.Namespace), client.MatchingLabels(id.Selector)); err != nil {
			return Rollout{}, fmt.Errorf("list %T: %w", list, err)
		}
	}
	r.keep(sets.Items, pods.Items)
	return r, nil
}

// keep takes what belongs to the Deployment: others may have the same labels.
func (r *Rollout) keep(sets []appsv1.ReplicaSet, pods []corev1.Pod) {
	ours := map[types.UID]bool{}
	for _, set := range sets {
		if metav1.IsControlledBy(&set, r.Deployment) {
			ours[set.UID] = true
			r.Sets = append(r.Sets, set)
		}
	}
	slices.SortFunc(r.Sets, func(a, b appsv1.ReplicaSet) int {
		return cmp.Or(cmp.Compare(Revision(&b), Revision(&a)), cmp.Compare(a.Name, b.Name))
	})
	for _, pod := range pods {
		switch owner := metav1.GetControllerOf(&pod); {
		case owner == nil:
		case ours[owner.UID]:
			r.Pods = append(r.Pods, pod)
		case pod.DeletionTimestamp != nil && owner.Kind == "ReplicaSet" && strings.HasPrefix(owner.Name, r.Deployment.Name+"-"):
			r.Former = append(r.Former, pod)
		}
	}
	slices.SortFunc(r.Pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
}

// Revision is the number of a ReplicaSet's template in its Deployment's history, 0 for
// one that has none.
func Revision(set *appsv1.ReplicaSet) int64 {
	n, err := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Replicas is how many pods there are to be.
func (r Rollout) Replicas() int32 {
	if r.Deployment == nil || r.Deployment.Spec.Replicas == nil {
		return 0
	}
	return *r.Deployment.Spec.Replicas
}

// Ready is how many pods serve.
func (r Rollout) Ready() int32 {
	var n int32
	for i := range r.Pods {
		if Ready(&r.Pods[i]) {
			n++
		}
	}
	return n
}

// Running is how many pods there are that are not on their way out.
func (r Rollout) Running() int32 { return r.staying() }

// Observed reports whether the Deployment's controller has seen its last change.
func (r Rollout) Observed() bool {
	return r.Deployment != nil && !r.Behind && r.Deployment.Status.ObservedGeneration >= r.Deployment.Generation
}

// Complete reports whether all pods run the last template and are ready, and no other is
// left. The ReplicaSets and the pods are asked too: what the Deployment counts comes over
// them, and can be from before a change that was taken back, or newer than the pods that were read.
func (r Rollout) Complete() bool {
	if !r.Observed() || slices.ContainsFunc(r.Sets, unobserved) {
		return false
	}
	s, n := r.Deployment.Status, r.Replicas()
	return s.UpdatedReplicas == n && s.Replicas == n && s.AvailableReplicas == n && r.staying() == n && r.Ready() == n
}

// Leftovers are the pods that are stuck on their way out when all others are as wanted; before that, others may wait
// for what those have, such as a volume.
func (r Rollout) Leftovers(now time.Time) Leftovers {
	if !r.Complete() {
		return nil
	}
	return append(r.stuck(now), StuckOf(pointers(r.Former), now)...)
}

// StuckIn is how long it takes until another pod counts as stuck; 0: none is about to.
func (r Rollout) StuckIn(now time.Time) time.Duration {
	return StuckIn(append(pointers(r.Pods), pointers(r.Former)...), now)
}

func (r Rollout) stuck(now time.Time) Leftovers { return StuckOf(pointers(r.Pods), now) }

func pointers(pods []corev1.Pod) []*corev1.Pod {
	out := make([]*corev1.Pod, 0, len(pods))
	for i := range pods {
		out = append(out, &pods[i])
	}
	return out
}

// unobserved reports whether a ReplicaSet's controller has not seen its last change.
func unobserved(set appsv1.ReplicaSet) bool { return set.Status.ObservedGeneration < set.Generation }

// staying is how many pods there are that have not ended and are not on their way out.
func (r Rollout) staying() int32 {
	var n int32
	for i := range r.Pods {
		pod := &r.Pods[i]
		if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// refused gives the words with which a quota or an admission rule refuses pods of the
// newest template: the ReplicaSet's controller keeps them for as long as it lasts.
func (r Rollout) refused() string {
	if len(r.Sets) == 0 {
		return ""
	}
	for _, c := range r.Sets[0].Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}
