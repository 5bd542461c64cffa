// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// keeps returns a function that reports whether an existing object that the plan does not declare must be kept. opcrew
// keeps all pods and claims until it has an up-to-date list of the members. Later it still keeps those that may belong
// to a member that was added after the list was read.
func (p planner) keeps() func(client.Object) bool {
	c, d := p.c, p.d
	fresh := p.fresh(c)
	return func(object client.Object) bool {
		if marks := object.GetAnnotations(); marks[model.RestoreAnnotation] != "" && model.SerialIn(marks) > c.Status.Serial {
			return true // the object belongs to a restore that started after this cached status was written
		}
		if isData(object) && model.LineageOf(c, object.GetName()) != model.Current {
			return !p.lineage(c, d.members).IsPast(object)
		}
		switch object.(type) {
		case *corev1.Pod:
			stops := d.drop[object.GetName()] || model.Hibernating(c)
			return !stops && (!fresh || d.has(object.GetName()) || p.joins(object))
		case *corev1.PersistentVolumeClaim:
			return !d.dropClaim[object.GetName()] && (!fresh || d.has(object.GetName()) || p.joins(object))
		case *policyv1.PodDisruptionBudget:
			return !fresh
		}
		return false
	}
}

// isData reports whether an object is a pod or a claim. During a restore, both the old and the restored cluster have
// such objects.
func isData(object client.Object) bool {
	switch object.(type) {
	case *corev1.Pod, *corev1.PersistentVolumeClaim:
		return true
	}
	return false
}

// fresh reports whether the list of members is up to date. It is true for a new cluster that cannot list its members
// yet.
func (f facts) fresh(c *etcdv1beta2.EtcdCluster) bool {
	return c.Status.ClusterID == "" || f.view.Err == nil && !f.view.At.IsZero() && !f.view.Stale
}

// joins reports whether a pod or claim was created after opcrew last read the members. The list of members may then
// lack the member to which the object belongs.
func (p planner) joins(object client.Object) bool {
	return !p.view.At.IsZero() && !object.GetCreationTimestamp().Time.Before(p.view.At.Truncate(time.Second))
}
