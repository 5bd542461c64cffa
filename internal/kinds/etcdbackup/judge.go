// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/agenda"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/workload"
)

// verdict is what opcrew knows and decides about the runs of an EtcdBackup in one reconcile.
type verdict struct {
	// now is the time at which the pods and the cluster were read.
	now time.Time
	// obstacle is what prevents the creation of the next pod; nil if nothing prevents it.
	obstacle *obstacle
	// wrong explains why the schedule is invalid. A run that has already started still continues.
	wrong string
	// open is the start time of a run that starts now; zero if none starts. The status records the run before its pod
	// is created. tried is the number of failed runs that this run retries.
	open  time.Time
	tried int32
	// make is the attempt for which a pod is created next; nil if no pod is needed.
	make *work
	// pod is the name of the pod that is working, or of the next pod.
	pod string
	// waits explains what the current run of the EtcdBackup waits for. stuck is true if a user may have to help.
	waits string
	stuck bool
	// over is a result that ends the current run of the EtcdBackup, whatever its pods are doing; nil if the run may
	// continue.
	over *backup.Result
	// saved and proven are the results of the two tasks of the current run, save and verify; nil until the task has
	// ended.
	saved, proven *backup.Result
	// late is true if the next run is already due while this run is still active. next is the time of the next run;
	// zero if there is none.
	late bool
	next time.Time
	// again is the time until the next reconcile; 0 if only an event needs to start one.
	again time.Duration
}

// attempts holds the pods of the current run's current task (save or verify), and when they were read.
type attempts struct {
	now  time.Time
	pods []corev1.Pod
}

// judge decides what to do next for an EtcdBackup. It uses the time at which the pods were read and not the current
// time, because at a later time the decision could depend on pods that were not read.
func judge(b *etcdv1beta2.EtcdBackup, f attempts) verdict {
	a := agenda.Of(b, f.now)
	v := verdict{now: f.now, wrong: a.Wrong, next: a.Next, late: !a.Due.IsZero() && !b.Spec.Suspend}
	switch t, ok := atWork(b); {
	case ok && isOver(b, f.now) != nil:
		v.over = isOver(b, f.now)
	case ok && t == save:
		v.saved = f.try(b, &v, save)
	case ok:
		v.proven = f.try(b, &v, verify)
	case !a.Due.IsZero() && !b.Spec.Suspend:
		v.open, v.tried = a.Due, a.Tried
		v.pod = work{save, a.Due, 1}.podName(b)
	}
	if !a.Next.IsZero() && !b.Spec.Suspend && (v.again == 0 || a.Next.Sub(f.now) < v.again) {
		v.again = max(time.Second, a.Next.Sub(f.now))
	}
	return v
}

// atWork returns the task, save or verify, that the active run works on; false if no run is active.
func atWork(b *etcdv1beta2.EtcdBackup) (task, bool) {
	switch {
	case b.Status.Run == nil:
		return "", false
	case b.Status.Run.Phase == etcdv1beta2.RunVerifying:
		return verify, true
	}
	return save, b.Status.Run.Phase == etcdv1beta2.RunRunning
}

// try checks the attempts at a task (save or verify), and requests the pod of the next attempt if it is due. It returns
// the result of the task; nil until the task has ended.
func (f attempts) try(b *etcdv1beta2.EtcdBackup, v *verdict, t task) *backup.Result {
	works := worksOf(b, t)
	last, pod := f.last(b, works)
	if pod == nil {
		v.begin(b, works[0])
		return nil
	}
	result := outcome(pod, f.now)
	if result == nil && t == verify && v.late {
		if result = overdue(pod, f.now); result != nil {
			return result
		}
	}
	switch {
	case result == nil:
		v.pod = pod.Name
		if last > 0 {
			v.failed(b, works[last], f.podOf(b, works[last-1]), f.now)
		}
		v.watch(pod, f.now)
		return nil
	case result.Outcome == backup.Succeeded || result.Outcome == backup.Invalid || last == len(works)-1:
		return result
	}
	v.failed(b, works[last+1], pod, f.now)
	v.again = max(0, endedAt(pod).Add(pause(last+1)).Sub(f.now))
	if v.again == 0 {
		v.begin(b, works[last+1])
	}
	return nil
}

// begin requests the creation of the pod of an attempt.
func (v *verdict) begin(b *etcdv1beta2.EtcdBackup, w work) { v.make, v.pod = &w, w.podName(b) }

// failed reports that an attempt failed, and which pod comes next. The message stays the same until the next attempt
// has ended.
func (v *verdict) failed(b *etcdv1beta2.EtcdBackup, next work, pod *corev1.Pod, now time.Time) {
	if pod == nil {
		return
	}
	// The pod of a failed attempt may report a success after opcrew has stopped waiting for the pod.
	if result := outcome(pod, now); result != nil && result.Outcome != backup.Succeeded {
		v.waits = fmt.Sprintf("attempt %d of %d failed: %s; the next attempt is pod %s", next.attempt-1, etcdv1beta2.BackupAttempts, result.Message, next.podName(b))
		v.stuck = true
	}
}

// watch records why a pod does not run yet, and schedules a reconcile for the pod's deadline. If the node of the pod is
// gone, no event reports that the pod has ended. Without this reconcile, opcrew would never notice it.
func (v *verdict) watch(pod *corev1.Pod, now time.Time) {
	if status(pod).State.Running == nil {
		why, stuck := workload.WhyNotReady(pod)
		if stuck = stuck || v.late; stuck || unscheduled(pod) {
			v.waits, v.stuck = "pod "+pod.Name+" has not started: "+why, v.stuck || stuck
		}
	}
	end := deadline(pod)
	if begins := pod.CreationTimestamp.Add(silence); v.late && now.Before(begins) {
		end = begins // opcrew gives up a pod that has not started by then, so that the due backup is not delayed
	}
	if !end.IsZero() {
		v.again = max(time.Second, end.Add(time.Second).Sub(now))
	}
}

func unscheduled(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
	})
}

// pause returns the wait between a failed attempt and the next attempt: first 10 s, then 30 s.
func pause(attempt int) time.Duration {
	out := 10 * time.Second
	for range attempt - 1 {
		out *= 3
	}
	return out
}

// last returns the index and the pod of the latest attempt that has a pod; the pod is nil if no attempt has one.
func (f attempts) last(b *etcdv1beta2.EtcdBackup, works []work) (int, *corev1.Pod) {
	for i, w := range slices.Backward(works) {
		if pod := f.podOf(b, w); pod != nil {
			return i, pod
		}
	}
	return 0, nil
}

// podOf returns the pod of an attempt; nil if it does not exist.
func (f attempts) podOf(b *etcdv1beta2.EtcdBackup, w work) *corev1.Pod {
	name := w.podName(b)
	for i := range f.pods {
		if f.pods[i].Name == name {
			return &f.pods[i]
		}
	}
	return nil
}

// limitOf returns how long one attempt at a task may take. A verification restores the backup, which takes several
// times as long as saving it.
func limitOf(b *etcdv1beta2.EtcdBackup, t task) time.Duration {
	if t == verify {
		return max(10*time.Minute, 5*agenda.Timeout(b))
	}
	return agenda.Timeout(b)
}

// verifies reports whether opcrew must verify the backup of the current run: spec.verify.every selects every n-th
// backup.
func verifies(b *etcdv1beta2.EtcdBackup) bool {
	return b.Spec.Verify != nil && (b.Status.Count+1)%int64(max(1, b.Spec.Verify.Every)) == 0
}
