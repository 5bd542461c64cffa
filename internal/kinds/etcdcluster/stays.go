// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// stays says which undeclared children stay all the same. Those of members do: they may have come
// into the cache since the facts were read from it. And as long as the cluster itself has not said
// who its members are, so do all but those that are recreated.
func (f facts) stays(c *etcdv1beta2.EtcdCluster, d decision) func(client.Object) bool {
	fresh := f.fresh(c)
	return func(object client.Object) bool {
		if marks := object.GetAnnotations(); marks[restoreAnnotation] != "" && serialIn(marks) > c.Status.Serial {
			return true // of a restore that was taken up later than this status is
		}
		if isData(object) && lineageOf(c, object.GetName()) != ofCluster {
			return !f.isPast(c, d, object)
		}
		switch object.(type) {
		case *corev1.Pod:
			stops := d.drop[object.GetName()] || asleep(c)
			return !stops && (!fresh || d.has(object.GetName()) || f.joins(object))
		case *corev1.PersistentVolumeClaim:
			return !d.dropClaim[object.GetName()] && (!fresh || d.has(object.GetName()) || f.joins(object))
		case *policyv1.PodDisruptionBudget:
			return !fresh
		}
		return false
	}
}

// isData tells pods and claims, which belong to a lineage, from what all lineages share.
func isData(object client.Object) bool {
	switch object.(type) {
	case *corev1.Pod, *corev1.PersistentVolumeClaim:
		return true
	}
	return false
}

// fresh reports whether the cluster itself has just said who its members are, or none can know better.
func (f facts) fresh(c *etcdv1beta2.EtcdCluster) bool {
	return c.Status.ClusterID == "" || f.view.Err == nil && !f.view.At.IsZero() && !f.view.Stale
}

// joins reports a pod or claim that is newer than the look at the cluster: its member was
// added since.
func (f facts) joins(object client.Object) bool {
	return !f.view.At.IsZero() && !object.GetCreationTimestamp().Time.Before(f.view.At.Truncate(time.Second))
}
