// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// obstacleInterval passes between two looks at what keeps a pod from being made, or from being seen.
const obstacleInterval = 15 * time.Second

// Plan makes the next pod of a run, and removes those of earlier runs. Backups stay when the
// object goes; its pods are collected with it.
func (r *reconciler) Plan(b *etcdv1beta2.EtcdBackup, f facts, _ time.Time) kit.Plan {
	if b.DeletionTimestamp != nil {
		return leave(b)
	}
	if f.behind {
		return kit.Plan{Again: obstacleInterval} // its event is on the way
	}
	v := judge(b, f)
	plan := kit.Plan{Again: v.again, Prune: []client.ObjectList{&corev1.PodList{}}, Stays: f.stay(b)}
	if v.make == nil {
		return plan
	}
	plan.Again = obstacleInterval
	if f.obstacle == nil {
		plan.Children = f.child(b, *v.make)
	}
	return plan
}

// leave lets an object go that the CoreOS operator held: there is nothing to be done.
func leave(b *etcdv1beta2.EtcdBackup) kit.Plan {
	if slices.Contains(b.Finalizers, etcdv1beta2.PeriodicFinalizer) {
		return kit.Plan{Release: etcdv1beta2.PeriodicFinalizer}
	}
	return kit.Plan{}
}

// child is the pod for a piece of work. One whose order cannot be written is not made: the
// status says why.
func (f facts) child(b *etcdv1beta2.EtcdBackup, w work) []ensure.Child {
	order, err := backup.EncodeOrder(orderOf(b, f, w))
	if err != nil {
		return nil
	}
	return []ensure.Child{{Object: pod(b, f, w, order), Once: true}}
}

// stay says which pods stay: those of the last run, whose logs may be wanted, but not one that was given up before
// it had begun, which would work beside its successor, should its node come up; nor one that is to be recreated.
func (f facts) stay(b *etcdv1beta2.EtcdBackup) func(client.Object) bool {
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
		return !due.Before(b.Status.Run.Due.Time) && !ahead(due, f.now) || // or later: this view is old
			slices.ContainsFunc(works, isOf)
	}
}

// givenUp are the attempts of the last run that others have followed, or its end.
func (f facts) givenUp(b *etcdv1beta2.EtcdBackup) []work {
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
