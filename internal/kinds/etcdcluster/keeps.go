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

// keeps reports which undeclared children are kept anyway. Members' objects are kept, as they may have come into the
// cache since the facts were read. Until the cluster has listed its members, everything is kept that need not be
// recreated.
func (p planner) keeps() func(client.Object) bool {
	c, d := p.c, p.d
	fresh := p.fresh(c)
	return func(object client.Object) bool {
		if marks := object.GetAnnotations(); marks[model.RestoreAnnotation] != "" && model.SerialIn(marks) > c.Status.Serial {
			return true // it belongs to a restore that began after this status was written
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

// isData reports whether an object is a pod or a claim, which belong to one lineage.
func isData(object client.Object) bool {
	switch object.(type) {
	case *corev1.Pod, *corev1.PersistentVolumeClaim:
		return true
	}
	return false
}

// fresh reports whether the cluster has just listed its members, or is not formed and has none to list yet.
func (f facts) fresh(c *etcdv1beta2.EtcdCluster) bool {
	return c.Status.ClusterID == "" || f.view.Err == nil && !f.view.At.IsZero() && !f.view.Stale
}

// joins reports whether a pod or claim was created after the view was read, so that its member may not be in the view
// yet.
func (p planner) joins(object client.Object) bool {
	return !p.view.At.IsZero() && !object.GetCreationTimestamp().Time.Before(p.view.At.Truncate(time.Second))
}
