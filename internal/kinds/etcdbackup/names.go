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
	"github.com/opcrew/opcrew/internal/backuppod"
)

const (
	// taskLabel of a pod is its task, dueLabel the time of its run in seconds, attemptLabel the number of the attempt.
	// They inform users: the operator finds pods by their names, which cannot change.
	taskLabel    = "etcd.opcrew.io/task"
	dueLabel     = "etcd.opcrew.io/due"
	attemptLabel = "etcd.opcrew.io/attempt"
	// orderAnnotation of a pod holds its order.
	orderAnnotation = "etcd.opcrew.io/order"
	// generationAnnotation of a pod is the generation of the spec that it was created for, settingsAnnotation a hash
	// of the settings of pods in that spec.
	generationAnnotation, settingsAnnotation = "etcd.opcrew.io/generation", "etcd.opcrew.io/wishes"

	// longestName bounds how much of the name of the object goes into the name of a pod, which has at most 253
	// characters.
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

// podName depends only on the object and the attempt: two operators at once create one pod.
func (w work) podName(b *etcdv1beta2.EtcdBackup) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s", b.UID, w.id()))
	name := strings.TrimRight(b.Name[:min(len(b.Name), longestName)], "-.") // a name must not have a dot beside a dash
	return name + "-" + hex.EncodeToString(sum[:])[:10]
}

// orderID is the same for all attempts: what an earlier attempt has completed after all is not repeated.
func (w work) orderID() string { return fmt.Sprintf("%s-%d", w.task, w.due.Unix()) }

func (w work) id() string { return fmt.Sprintf("%s-%d-%d", w.task, w.due.Unix(), w.attempt) }

func (w work) labels() map[string]string {
	out := backuppod.Labels()
	out[taskLabel], out[dueLabel], out[attemptLabel] = string(w.task), strconv.FormatInt(w.due.Unix(), 10), strconv.Itoa(w.attempt)
	return out
}

// worksOf returns all attempts that the last run can have at a task.
func worksOf(b *etcdv1beta2.EtcdBackup, t task) []work {
	var out []work
	for attempt := 1; attempt <= etcdv1beta2.BackupAttempts; attempt++ {
		out = append(out, work{t, b.Status.Run.Due.Time, attempt})
	}
	return out
}

// dueOf returns the time of the run of a pod, from its label.
func dueOf(pod *corev1.Pod) time.Time {
	due, _ := strconv.ParseInt(pod.Labels[dueLabel], 10, 64)
	return time.Unix(due, 0)
}
