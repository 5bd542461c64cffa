// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/workload"
)

// verdict is what is known of the runs of a backup, and what follows.
type verdict struct {
	// wrong says why the schedule cannot be kept; a run that was begun goes on.
	wrong string
	// open has a run begin: it is written down before anything of it is done. tried is how many have
	// failed that it makes up for.
	open  time.Time
	tried int32
	// make is a pod that is to be there next; nil: none.
	make *work
	// pod is the one that is at work, or comes next.
	pod string
	// waits says what the run is waiting for, and stuck whether that may need a hand.
	waits string
	stuck bool
	// over, if any, is why the run ends whatever its pods do.
	over *backup.Result
	// saved and proven are how the tasks of the run ended, nil while they have not.
	saved, proven *backup.Result
	// late reports that another run is due while this one is at work, and next when the next is; zero: none is.
	late bool
	next time.Time
	// again is when to look again, 0: when something happens.
	again time.Duration
}

// judge says what follows from what is known. It is pure, and of the time of the facts: what they
// were not asked for is not decided on a moment later.
func judge(b *etcdv1beta2.EtcdBackup, f facts) verdict {
	a := agendaOf(b, f.now)
	v := verdict{wrong: a.wrong, next: a.next, late: !a.due.IsZero() && !b.Spec.Suspend}
	switch t, ok := atWork(b); {
	case ok && isOver(b, f.now) != nil:
		v.over = isOver(b, f.now)
	case ok && t == save:
		v.saved = f.try(b, &v, save)
	case ok:
		v.proven = f.try(b, &v, verify)
	case !a.due.IsZero() && !b.Spec.Suspend:
		v.open, v.tried = a.due, a.tried
		v.pod = work{save, a.due, 1}.podName(b)
	}
	if !a.next.IsZero() && !b.Spec.Suspend && (v.again == 0 || a.next.Sub(f.now) < v.again) {
		v.again = max(time.Second, a.next.Sub(f.now))
	}
	return v
}

// atWork is the task that a run was begun and not ended with.
func atWork(b *etcdv1beta2.EtcdBackup) (task, bool) {
	switch {
	case b.Status.Run == nil:
		return "", false
	case b.Status.Run.Phase == etcdv1beta2.RunVerifying:
		return verify, true
	}
	return save, b.Status.Run.Phase == etcdv1beta2.RunRunning
}

// try sees a task of the run through its attempts, and returns its end.
func (f facts) try(b *etcdv1beta2.EtcdBackup, v *verdict, t task) *backup.Result {
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

// begin has a pod made.
func (v *verdict) begin(b *etcdv1beta2.EtcdBackup, w work) { v.make, v.pod = &w, w.podName(b) }

// failed reports the attempt before one, in the same words until that one has ended, too.
func (v *verdict) failed(b *etcdv1beta2.EtcdBackup, next work, pod *corev1.Pod, now time.Time) {
	if pod == nil {
		return
	}
	if result := outcome(pod, now); result != nil && result.Outcome != backup.Succeeded { // or it was given up, and was done after all
		v.waits = fmt.Sprintf("attempt %d of %d failed: %s; the next is pod %s", next.attempt-1, etcdv1beta2.BackupAttempts, result.Message, next.podName(b))
		v.stuck = true
	}
}

// watch says what keeps a pod from its work, and when it is given up: no one reports one whose
// node is gone.
func (v *verdict) watch(pod *corev1.Pod, now time.Time) {
	if status(pod).State.Running == nil {
		why, stuck := workload.WhyNotReady(pod)
		if stuck = stuck || v.late; stuck || unscheduled(pod) {
			v.waits, v.stuck = "pod "+pod.Name+" has not begun: "+why, v.stuck || stuck
		}
	}
	end := deadline(pod)
	if begins := pod.CreationTimestamp.Add(silence); v.late && now.Before(begins) {
		end = begins // what does not run by then may hold up the backup that is due
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

// pause passes after an attempt that failed: 10 s, 30 s.
func pause(attempt int) time.Duration {
	out := 10 * time.Second
	for range attempt - 1 {
		out *= 3
	}
	return out
}

// last is the last of some attempts that has a pod, and that pod; nil: none has.
func (f facts) last(b *etcdv1beta2.EtcdBackup, works []work) (int, *corev1.Pod) {
	for i, w := range slices.Backward(works) {
		if pod := f.podOf(b, w); pod != nil {
			return i, pod
		}
	}
	return 0, nil
}

// podOf is the pod of an attempt, nil if there is none.
func (f facts) podOf(b *etcdv1beta2.EtcdBackup, w work) *corev1.Pod {
	name := w.podName(b)
	for i := range f.pods {
		if f.pods[i].Name == name {
			return &f.pods[i]
		}
	}
	return nil
}

// limitOf is for how long one attempt may run. To restore takes several times as long as to save.
func limitOf(b *etcdv1beta2.EtcdBackup, t task) time.Duration {
	if t == verify {
		return max(10*time.Minute, 5*timeout(b))
	}
	return timeout(b)
}

// verifies reports whether the run that is about to succeed is one that is verified.
func verifies(b *etcdv1beta2.EtcdBackup) bool {
	return b.Spec.Verify != nil && (b.Status.Count+1)%int64(max(1, b.Spec.Verify.Every)) == 0
}
