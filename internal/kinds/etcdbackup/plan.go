// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/agenda"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// obstacleInterval is how often opcrew checks whether something still prevents the creation of a pod.
const obstacleInterval = 15 * time.Second

// Decide returns the state of the current run of an EtcdBackup and what to do next, including any obstacle to the next
// pod.
func (r *reconciler) Decide(b *etcdv1beta2.EtcdBackup, f facts, _ time.Time) verdict {
	if b.DeletionTimestamp != nil || f.behind {
		return verdict{}
	}
	v := judge(b, f.attempts())
	if v.make != nil {
		v.obstacle = f.obstacle
	}
	if v.make != nil && v.obstacle == nil {
		if err := orderOf(b, f.cluster, *v.make).Check(); err != nil {
			v.obstacle = &obstacle{etcdv1beta2.ReasonInvalidSpec, err.Error()}
		}
	}
	return v
}

// Plan creates the next pod of the current run, and deletes pods of earlier runs. When the EtcdBackup is deleted, the
// backups in the storage are kept, and the garbage collector deletes the pods.
func (r *reconciler) Plan(b *etcdv1beta2.EtcdBackup, f facts, v verdict) kit.Plan {
	if b.DeletionTimestamp != nil {
		return leave(b)
	}
	if f.behind {
		return kit.Plan{Again: obstacleInterval} // the update of the cache starts another reconcile
	}
	plan := kit.Plan{Again: v.again, Prune: []client.ObjectList{&corev1.PodList{}}, Stays: f.attempts().stay(b)}
	if v.make == nil {
		return plan
	}
	plan.Again = obstacleInterval
	if v.obstacle == nil {
		plan.Children = child(b, f.image, f.cluster, *v.make)
	}
	return plan
}

// leave removes the finalizer that the CoreOS operator set on an EtcdBackup. Otherwise a deleted EtcdBackup would never
// go away.
func leave(b *etcdv1beta2.EtcdBackup) kit.Plan {
	if slices.Contains(b.Finalizers, etcdv1beta2.PeriodicFinalizer) {
		return kit.Plan{Release: etcdv1beta2.PeriodicFinalizer}
	}
	return kit.Plan{}
}

// child returns the pod of an attempt. It returns no pod if the pod's order (what to save or verify, as JSON) cannot be
// encoded; the status then reports why.
func child(b *etcdv1beta2.EtcdBackup, image string, cluster *etcdv1beta2.EtcdCluster, w work) []ensure.Child {
	order, err := backup.EncodeOrder(orderOf(b, cluster, w))
	if err != nil {
		return nil
	}
	return []ensure.Child{{Object: pod(b, image, cluster, w, order), Once: true}}
}

// stay returns a function that selects the pods to keep: the pods of the last run, for their logs. The function selects
// no outdated pods. It also selects no pods of abandoned attempts that have not started, because they could still start
// while the pod of a later attempt runs.
func (f attempts) stay(b *etcdv1beta2.EtcdBackup) func(client.Object) bool {
	if b.Status.Run == nil {
		return func(client.Object) bool { return true }
	}
	works, givenUp := append(worksOf(b, save), worksOf(b, verify)...), f.givenUp(b)
	return func(object client.Object) bool {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return true
		}
		isOf := func(w work) bool { return w.podName(b) == pod.Name }
		if outdated(b, pod) || !begun(pod) && slices.ContainsFunc(givenUp, isOf) {
			return false
		}
		due := dueOf(pod)
		// Also keep a pod of a later run, because it shows that the cached EtcdBackup is stale.
		return !due.Before(b.Status.Run.Due.Time) && !agenda.InFuture(due, f.now) ||
			slices.ContainsFunc(works, isOf)
	}
}

// givenUp returns the attempts of the last run whose result no longer counts, because a later attempt exists or the run
// has ended.
func (f attempts) givenUp(b *etcdv1beta2.EtcdBackup) []work {
	saves, proofs := worksOf(b, save), worksOf(b, verify)
	switch t, busy := atWork(b); {
	case !busy:
		return append(saves, proofs...)
	case t == verify:
		last, _ := f.last(b, proofs)
		return append(saves, proofs[:last]...)
	}
	last, _ := f.last(b, saves)
	return saves[:last]
}
