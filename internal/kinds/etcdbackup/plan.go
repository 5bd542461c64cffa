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

// obstacleInterval is the time between two checks of what prevents a pod from being created or observed.
const obstacleInterval = 15 * time.Second

// Decide returns what is known about the run, and what prevents the next pod from being created.
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

// Plan creates the next pod of a run, and deletes the pods of earlier runs. When the object is deleted its backups are
// kept, and the garbage collector deletes its pods.
func (r *reconciler) Plan(b *etcdv1beta2.EtcdBackup, f facts, v verdict) kit.Plan {
	if b.DeletionTimestamp != nil {
		return leave(b)
	}
	if f.behind {
		return kit.Plan{Again: obstacleInterval} // the event of the change will come
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

// leave removes the CoreOS operator's finalizer from a deleted object, as there is nothing to clean up.
func leave(b *etcdv1beta2.EtcdBackup) kit.Plan {
	if slices.Contains(b.Finalizers, etcdv1beta2.PeriodicFinalizer) {
		return kit.Plan{Release: etcdv1beta2.PeriodicFinalizer}
	}
	return kit.Plan{}
}

// child returns the pod for an attempt; none if its order cannot be encoded, and the status reports why.
func child(b *etcdv1beta2.EtcdBackup, image string, cluster *etcdv1beta2.EtcdCluster, w work) []ensure.Child {
	order, err := backup.EncodeOrder(orderOf(b, cluster, w))
	if err != nil {
		return nil
	}
	return []ensure.Child{{Object: pod(b, image, cluster, w, order), Once: true}}
}

// stay returns which pods are kept: the pods of the last run, for their logs. It does not keep a pod that was given up
// before it started, as it could run beside its successor, or a pod that must be recreated.
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
		return !due.Before(b.Status.Run.Due.Time) && !agenda.InFuture(due, f.now) || // a later run means that the cache is stale
			slices.ContainsFunc(works, isOf)
	}
}

// givenUp returns the attempts of the last run after which there was another attempt, or the run ended.
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
