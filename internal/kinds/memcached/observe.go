// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"context"
	"fmt"
	"sync"
	"time"

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

// refusalWait passes while pods are missing before the events are asked why: a pod that
// is being made or made anew is missing too, and events speak for an hour.
const refusalWait = 2 * time.Second

// reconciler is keyed by a Memcached.
type reconciler struct {
	*kit.Tools
	missing sync.Map // since when pods are, by the object's key
}

// facts are all that is read about a Memcached.
type facts struct {
	set     *appsv1.StatefulSet // nil: there is none
	pods    map[string]*corev1.Pod
	refused string // the words with which a missing pod was refused
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
	if r.overdue(m, f) {
		f.refused, err = workload.FailedCreate(ctx, r.Live, set)
	}
	return f, err
}

// overdue tells whether pods are missing for so long that somebody seems to refuse them,
// or were refused when last seen.
func (r *reconciler) overdue(m *cachev1alpha1.Memcached, f facts) bool {
	key := client.ObjectKeyFromObject(m)
	if !f.missing() {
		r.missing.Delete(key)
		return false
	}
	since, _ := r.missing.LoadOrStore(key, r.Clock.Now())
	told := meta.FindStatusCondition(m.Status.Conditions, cachev1alpha1.MemcachedServersReady)
	return told != nil && told.Reason == cachev1alpha1.ReasonServersMissing || r.Clock.Since(since.(time.Time)) >= refusalWait
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
