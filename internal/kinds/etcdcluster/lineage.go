// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// others are the pods and claims of other lineages: of a restore that is not done, or was given up,
// and, after one, of the cluster as it was before. They are no members, and never looked at as such.
type others struct {
	pods   []*corev1.Pod
	claims []*corev1.PersistentVolumeClaim
}

func lineageOf(object client.Object) string { return object.GetAnnotations()[lineageAnnotation] }

// none tells whether nothing of another lineage is left.
func (o others) none() bool { return len(o.pods) == 0 && len(o.claims) == 0 }

// serve tells whether a pod of another lineage may still have clients: then nobody is led to a member
// of this one, or some would write here and some there.
func (o others) serve() bool {
	return slices.ContainsFunc(o.pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && !ended(pod) })
}

func (o others) pod(name string) *corev1.Pod {
	i := slices.IndexFunc(o.pods, func(pod *corev1.Pod) bool { return pod.Name == name })
	if i < 0 {
		return nil
	}
	return o.pods[i]
}

func (o others) claim(name string) *corev1.PersistentVolumeClaim {
	i := slices.IndexFunc(o.claims, func(claim *corev1.PersistentVolumeClaim) bool { return claim.Name == name })
	if i < 0 {
		return nil
	}
	return o.claims[i]
}

// isPast tells of a pod or claim whether its lineage is one that the status says is over. Of one that
// the status does not know it may itself be what is out of date: it stays.
func (f facts) isPast(c *etcdv1beta2.EtcdCluster, d decision, object client.Object) bool {
	at := c.Status.Restore
	if at == nil || lineageOf(object) == c.Status.Lineage {
		return false
	}
	switch at.Phase {
	case etcdv1beta2.PhaseAbandoned:
		return lineageOf(object) == at.UID
	case etcdv1beta2.PhaseRestored:
		_, isPod := object.(*corev1.Pod) // the data stays until all members have the new
		return lineageOf(object) == at.Former && (isPod || f.whole(c, d))
	}
	return false
}

// whole tells whether there are as many members as asked for, all of them well.
func (f facts) whole(c *etcdv1beta2.EtcdCluster, d decision) bool {
	return f.fresh(c) && int32(len(d.members)) >= c.Spec.Size &&
		!slices.ContainsFunc(d.members, func(m member) bool { return !m.ready() || m.learner })
}
