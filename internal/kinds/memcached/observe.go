// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// reconciler is keyed by a Memcached.
type reconciler struct {
	*kit.Tools
	refusals workload.Refusals
}

// facts are all that is read about a Memcached.
type facts struct {
	set     *appsv1.StatefulSet // nil: there is none
	pods    map[string]*corev1.Pod
	refusal workload.Refusal // of a missing pod
}

// Observe reads the StatefulSet and its pods.
func (r *reconciler) Observe(ctx context.Context, m *cachev1alpha1.Memcached) (facts, error) {
	f := facts{pods: map[string]*corev1.Pod{}}
	set := &appsv1.StatefulSet{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(m), set)
	switch {
	case apierrors.IsNotFound(err):
		return f, nil
	case err != nil:
		return f, fmt.Errorf("read StatefulSet: %w", err)
	}
	if !metav1.IsControlledBy(set, m) {
		return f, nil // somebody else's, or that of an earlier object of this name
	}
	f.set = set
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.InNamespace(m.Namespace), client.MatchingLabels(selector(m))); err != nil {
		return f, fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		// Pods of a predecessor have the same names for as long as they are not collected.
		if pod := &pods.Items[i]; metav1.IsControlledBy(pod, set) {
			f.pods[pod.Name] = pod
		}
	}
	if !f.missing() {
		r.refusals.Forget(client.ObjectKeyFromObject(m))
		return f, nil
	}
	f.refusal, err = r.refusals.Why(ctx, client.ObjectKeyFromObject(m), set, refused(m))
	return f, err
}

// refused tells whether pods were refused when last reported.
func refused(m *cachev1alpha1.Memcached) bool {
	told := meta.FindStatusCondition(m.Status.Conditions, cachev1alpha1.MemcachedServersReady)
	return told != nil && told.Reason == cachev1alpha1.ReasonServersMissing
}

// missing tells whether the StatefulSet has fewer pods than it is to have.
func (f facts) missing() bool {
	return f.set != nil && f.set.Spec.Replicas != nil && len(f.pods) < int(*f.set.Spec.Replicas)
}

// objectOfPod wakes the Memcached that a pod belongs to: its StatefulSet stands between them.
func objectOfPod(_ context.Context, pod client.Object) []reconcile.Request {
	labels := pod.GetLabels()
	if labels[nameLabel] != appName {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: labels[instanceLabel]}}}
}
