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

// revisionAnnotation holds the revision number of a Deployment's ReplicaSet. A higher number is newer.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// Rollout holds the Deployment of an application with its ReplicaSets and pods, as they were read. The zero value means
// that there is no Deployment.
type Rollout struct {
	Deployment *appsv1.Deployment
	// Sets are the ReplicaSets of the Deployment, newest revision first.
	Sets []appsv1.ReplicaSet
	// Pods are the pods of these ReplicaSets, sorted by name.
	Pods []corev1.Pod
	// Former are pods of an earlier Deployment with the same name that are still being deleted. New pods may have to
	// wait for volumes that these pods still use.
	Former []corev1.Pod
	// Behind is true if the cached Deployment is older than opcrew's last write of it. It must be determined at the
	// time of the read, because afterwards nothing shows that the read was stale.
	Behind bool
}

// Recall sets Behind by comparing the cached Deployment with opcrew's last write of it.
func (r *Rollout) Recall(writes *ensure.Applier) {
	r.Behind = r.Deployment != nil && writes.Behind(appsv1.SchemeGroupVersion.WithKind("Deployment"), r.Deployment)
}

// ObserveRollout reads the Deployment of an owner with its ReplicaSets and pods.
func ObserveRollout(ctx context.Context, reader client.Reader, owner client.Object, id Identity) (Rollout, error) {
	d := &appsv1.Deployment{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, d)
	switch {
	case apierrors.IsNotFound(err):
		return Rollout{}, nil
	case err != nil:
		return Rollout{}, fmt.Errorf("read Deployment: %w", err)
	case !metav1.IsControlledBy(d, owner):
		return Rollout{}, nil // the Deployment belongs to another owner, or to an earlier object with the same name
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

// keep stores the ReplicaSets and pods that belong to the Deployment. Unrelated objects may have the same labels.
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

// Revision returns the revision number of a ReplicaSet in its Deployment; 0 if it has none.
func Revision(set *appsv1.ReplicaSet) int64 {
	n, err := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Replicas returns the number of pods that the Deployment requests.
func (r Rollout) Replicas() int32 {
	if r.Deployment == nil || r.Deployment.Spec.Replicas == nil {
		return 0
	}
	return *r.Deployment.Spec.Replicas
}

// Ready counts the ready pods.
func (r Rollout) Ready() int32 {
	var n int32
	for i := range r.Pods {
		if Ready(&r.Pods[i]) {
			n++
		}
	}
	return n
}

// Running counts the pods that are not being deleted.
func (r Rollout) Running() int32 { return r.staying() }

// Observed reports whether the Deployment controller has processed the last change of the Deployment.
func (r Rollout) Observed() bool {
	return r.Deployment != nil && !r.Behind && r.Deployment.Status.ObservedGeneration >= r.Deployment.Generation
}

// Complete reports whether all pods run the newest template and are ready, and no other pods are left. It also checks
// ReplicaSets and pods, because the counts in the Deployment may be older or newer than the observed pods.
func (r Rollout) Complete() bool {
	if !r.Observed() || slices.ContainsFunc(r.Sets, unobserved) {
		return false
	}
	s, n := r.Deployment.Status, r.Replicas()
	return s.UpdatedReplicas == n && s.Replicas == n && s.AvailableReplicas == n && r.staying() == n && r.Ready() == n
}

// Leftovers returns the stuck pods once the rollout is complete. Before that it returns none, because new pods may
// still be waiting for the volumes of the stuck pods.
func (r Rollout) Leftovers(now time.Time) Leftovers {
	if !r.Complete() {
		return nil
	}
	return append(r.stuck(now), StuckOf(pointers(r.Former), now)...)
}

// StuckIn returns the time until another pod counts as stuck; 0 if none will.
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

// unobserved reports whether the ReplicaSet controller has not processed the last change of a ReplicaSet.
func unobserved(set appsv1.ReplicaSet) bool { return set.Status.ObservedGeneration < set.Generation }

// staying counts the pods that have not ended and are not being deleted.
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

// refused returns the message with which the API server refuses pods of the newest template, for example because of a
// quota or an admission rule. The ReplicaSet keeps this message in a condition while the refusal lasts.
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
