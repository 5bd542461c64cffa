// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

const (
	// taskLabel of a pod is what it does, dueLabel the time of its run in seconds, attemptLabel how
	// often that was tried. They are for people: pods are known by their names, which no one can change.
	taskLabel    = "etcd.opcrew.io/task"
	dueLabel     = "etcd.opcrew.io/due"
	attemptLabel = "etcd.opcrew.io/attempt"
	// orderAnnotation of a pod is what it is to do.
	orderAnnotation = "etcd.opcrew.io/order"
	// generationAnnotation of a pod is that of the spec that it was made for, wishesAnnotation a hash of what that says
	// of pods.
	generationAnnotation, wishesAnnotation = "etcd.opcrew.io/generation", "etcd.opcrew.io/wishes"

	// longestName of an object of which a pod's name is made: that has 253 characters at most.
	longestName = 200
)

// task is what a pod does.
type task string

const (
	save   task = "save"
	verify task = "verify"
)

// work is one attempt at a task of a run.
type work struct {
	task    task
	due     time.Time
	attempt int
}

// podName is the same for anyone who decides on it: two operators at once make one pod.
func (w work) podName(b *etcdv1beta2.EtcdBackup) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s", b.UID, w.id()))
	name := strings.TrimRight(b.Name[:min(len(b.Name), longestName)], "-.") // no name has a dot beside a dash
	return name + "-" + hex.EncodeToString(sum[:])[:10]
}

// orderID is the same for all attempts: what an earlier one has done after all is not done again.
func (w work) orderID() string { return fmt.Sprintf("%s-%d", w.task, w.due.Unix()) }

func (w work) id() string { return fmt.Sprintf("%s-%d-%d", w.task, w.due.Unix(), w.attempt) }

func (w work) labels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name": "etcdbackup",
		taskLabel:                string(w.task),
		dueLabel:                 strconv.FormatInt(w.due.Unix(), 10),
		attemptLabel:             strconv.Itoa(w.attempt),
	}
}

// worksOf are all attempts at a task that the last run can have.
func worksOf(b *etcdv1beta2.EtcdBackup, t task) []work {
	var out []work
	for attempt := 1; attempt <= etcdv1beta2.BackupAttempts; attempt++ {
		out = append(out, work{t, b.Status.Run.Due.Time, attempt})
	}
	return out
}

// dueOf is when the run of a pod was due, by its label.
func dueOf(pod *corev1.Pod) time.Time {
	due, _ := strconv.ParseInt(pod.Labels[dueLabel], 10, 64)
	return time.Unix(due, 0)
}
