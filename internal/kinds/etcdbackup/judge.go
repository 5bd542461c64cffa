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

// verdict holds what is known about the runs of a backup, and what to do.
type verdict struct {
	// now is when the facts were read.
	now time.Time
	// obstacle is what prevents the next pod from being created; nil if nothing does.
	obstacle *obstacle
	// wrong explains why the schedule cannot be kept. A run that has started continues.
	wrong string
	// open is the time of a run that starts now. The status records it before anything is done for it. tried counts the
	// failed runs that it makes up for.
	open  time.Time
	tried int32
	// make is the pod to create next; nil if there is none.
	make *work
	// pod is the name of the active pod, or of the next one.
	pod string
	// waits is what the run waits for; stuck is true if it may need help.
	waits string
	stuck bool
	// over explains why the run ends whatever its pods do; nil if it does not.
	over *backup.Result
	// saved and proven are the results of the run's tasks; nil until they have ended.
	saved, proven *backup.Result
	// late is true if another run is due while this one is active. next is the time of the next run; zero if there is
	// none.
	late bool
	next time.Time
	// again is the time until the next check; 0 to wait for the next event.
	again time.Duration
}

// attempts holds the pods of the current task, as read at a time.
type attempts struct {
	now  time.Time
	pods []corev1.Pod
}

// judge returns what is known about the run and what to do. It uses the time at which the facts were read, as they lack
// what would be needed for a later time.
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

// atWork returns the current task of the run; false if no run is active.
func atWork(b *etcdv1beta2.EtcdBackup) (task, bool) {
	switch {
	case b.Status.Run == nil:
		return "", false
	case b.Status.Run.Phase == etcdv1beta2.RunVerifying:
		return verify, true
	}
	return save, b.Status.Run.Phase == etcdv1beta2.RunRunning
}

// try checks the attempts at a task of the run, and returns the task's result; nil if it has none yet.
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

// begin requests the pod of an attempt.
func (v *verdict) begin(b *etcdv1beta2.EtcdBackup, w work) { v.make, v.pod = &w, w.podName(b) }

// failed reports the failure of the previous attempt. The words stay the same until the next attempt has ended too.
func (v *verdict) failed(b *etcdv1beta2.EtcdBackup, next work, pod *corev1.Pod, now time.Time) {
	if pod == nil {
		return
	}
	if result := outcome(pod, now); result != nil && result.Outcome != backup.Succeeded { // or it was given up, but succeeded later
		v.waits = fmt.Sprintf("attempt %d of %d failed: %s; the next attempt is pod %s", next.attempt-1, etcdv1beta2.BackupAttempts, result.Message, next.podName(b))
		v.stuck = true
	}
}

// watch reports what keeps a pod from working, and sets when it is given up, as no one reports the end of a pod whose
// node is gone.
func (v *verdict) watch(pod *corev1.Pod, now time.Time) {
	if status(pod).State.Running == nil {
		why, stuck := workload.WhyNotReady(pod)
		if stuck = stuck || v.late; stuck || unscheduled(pod) {
			v.waits, v.stuck = "pod "+pod.Name+" has not started: "+why, v.stuck || stuck
		}
	}
	end := deadline(pod)
	if begins := pod.CreationTimestamp.Add(silence); v.late && now.Before(begins) {
		end = begins // a pod that does not run by then could delay the due backup
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

// pause returns the time between a failed attempt and the next one: 10 s, then 30 s.
func pause(attempt int) time.Duration {
	out := 10 * time.Second
	for range attempt - 1 {
		out *= 3
	}
	return out
}

// last returns the last attempt that has a pod, and that pod; nil if none has.
func (f attempts) last(b *etcdv1beta2.EtcdBackup, works []work) (int, *corev1.Pod) {
	for i, w := range slices.Backward(works) {
		if pod := f.podOf(b, w); pod != nil {
			return i, pod
		}
	}
	return 0, nil
}

// podOf returns the pod of an attempt; nil if there is none.
func (f attempts) podOf(b *etcdv1beta2.EtcdBackup, w work) *corev1.Pod {
	name := w.podName(b)
	for i := range f.pods {
		if f.pods[i].Name == name {
			return &f.pods[i]
		}
	}
	return nil
}

// limitOf returns how long one attempt may run. A restore takes several times as long as a save.
func limitOf(b *etcdv1beta2.EtcdBackup, t task) time.Duration {
	if t == verify {
		return max(10*time.Minute, 5*agenda.Timeout(b))
	}
	return agenda.Timeout(b)
}

// verifies reports whether the run must be verified once its backup has succeeded.
func verifies(b *etcdv1beta2.EtcdBackup) bool {
	return b.Spec.Verify != nil && (b.Status.Count+1)%int64(max(1, b.Spec.Verify.Every)) == 0
}
