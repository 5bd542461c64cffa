// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backup"
	"github.com/opcrew/opcrew/internal/workload"
)

// verdict is what is known of the runs of a backup, and what follows.
type verdict struct {
	// wrong tells why the spec cannot be carried out.
	wrong string
	// open has a run begin: it is written down before anything of it is done.
	open time.Time
	// make is a pod that is to be there next; nil: none.
	make *work
	// waits tells what the run is waiting for, and stuck whether that may need a hand.
	waits string
	stuck bool
	// saved and proven are how the tasks of the run ended, nil while they have not.
	saved, proven *backup.Result
	// next is when the next run is due; zero: none is.
	next time.Time
	// again is when to look again, 0: when something happens.
	again time.Duration
}

// judge tells what follows from what is known. It is pure.
func judge(b *etcdv1beta2.EtcdBackup, f facts, now time.Time) verdict {
	a := agendaOf(b, now)
	v := verdict{wrong: a.wrong, next: a.next}
	run := b.Status.Run
	switch {
	case a.wrong != "":
	case run != nil && run.Phase == etcdv1beta2.RunRunning:
		v.saved = f.try(b, &v, save, now)
	case run != nil && run.Phase == etcdv1beta2.RunVerifying:
		v.proven = f.try(b, &v, verify, now)
	case !a.due.IsZero() && !b.Spec.Suspend:
		v.open = a.due
	}
	if !a.next.IsZero() && !b.Spec.Suspend && (v.again == 0 || a.next.Sub(now) < v.again) {
		v.again = max(time.Second, a.next.Sub(now))
	}
	return v
}

// try sees a task of the run through its attempts, and returns its end.
func (f facts) try(b *etcdv1beta2.EtcdBackup, v *verdict, t task, now time.Time) *backup.Result {
	limit := limitOf(b, t)
	pods := f.attempts(b, t)
	if len(pods) == 0 {
		v.make = &work{task: t, due: b.Status.Run.Due.Time, attempt: 1}
		return nil
	}
	last := pods[len(pods)-1]
	attempt := workOf(last).attempt
	result := outcome(last, now, limit)
	switch {
	case result == nil:
		v.watch(last, limit, now)
		return nil
	case result.Outcome == backup.Succeeded || result.Outcome == backup.Invalid || attempt >= etcdv1beta2.BackupAttempts:
		return result
	}
	v.waits, v.stuck = fmt.Sprintf("attempt %d of %d failed: %s", attempt, etcdv1beta2.BackupAttempts, result.Message), true
	if v.again = endedAt(last, now).Add(pause(attempt)).Sub(now); v.again <= 0 {
		v.again = 0
		v.make = &work{task: t, due: b.Status.Run.Due.Time, attempt: attempt + 1}
	}
	return nil
}

// watch tells what a pod that has not ended is doing.
func (v *verdict) watch(pod *corev1.Pod, limit time.Duration, now time.Time) {
	v.waits = "pod " + pod.Name + " is at work"
	if status(pod).State.Running == nil {
		why, stuck := workload.WhyNotReady(pod)
		v.waits, v.stuck = "pod "+pod.Name+" has not begun: "+why, stuck
	}
	if pod.Status.StartTime != nil { // nobody tells of one whose node is gone
		v.again = max(time.Second, pod.Status.StartTime.Add(limit+slack+silence+time.Second).Sub(now))
	}
}

// pause passes after an attempt that failed: 10 s, 30 s.
func pause(attempt int) time.Duration {
	out := 10 * time.Second
	for range attempt - 1 {
		out *= 3
	}
	return out
}

// attempts are the pods of a task of the run, in the order in which they were made.
func (f facts) attempts(b *etcdv1beta2.EtcdBackup, t task) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range f.pods {
		if w := workOf(&f.pods[i]); w.task == t && w.due.Equal(b.Status.Run.Due.Time) {
			out = append(out, &f.pods[i])
		}
	}
	slices.SortFunc(out, func(x, y *corev1.Pod) int { return workOf(x).attempt - workOf(y).attempt })
	return out
}

// limitOf is for how long one attempt may run. To restore takes several times as long as to save.
func limitOf(b *etcdv1beta2.EtcdBackup, t task) time.Duration {
	if t == verify {
		return max(10*time.Minute, 5*timeout(b))
	}
	return timeout(b)
}

// verifies tells whether the run that is about to succeed is one that is verified.
func verifies(b *etcdv1beta2.EtcdBackup) bool {
	return b.Spec.Verify != nil && (b.Status.Count+1)%int64(max(1, b.Spec.Verify.Every)) == 0
}
