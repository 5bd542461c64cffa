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
	// taskLabel is a pod's task, dueLabel the time of its run in Unix seconds, and attemptLabel the number of the
	// attempt. The labels are for users: the operator finds pods by their names, which cannot change.
	taskLabel    = "etcd.opcrew.io/task"
	dueLabel     = "etcd.opcrew.io/due"
	attemptLabel = "etcd.opcrew.io/attempt"
	// orderAnnotation holds the order of a pod.
	orderAnnotation = "etcd.opcrew.io/order"
	// generationAnnotation holds the generation of the spec that a pod was created for, and settingsAnnotation a hash
	// of the pod settings in that spec.
	generationAnnotation, settingsAnnotation = "etcd.opcrew.io/generation", "etcd.opcrew.io/settings"

	// longestName limits how much of the object's name goes into a pod's name, which has at most 253 characters.
	longestName = 200
)

// task is the kind of work that a pod does.
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

// podName returns a name that depends only on the object and the attempt, so that two operators create a single pod.
func (w work) podName(b *etcdv1beta2.EtcdBackup) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s", b.UID, w.id()))
	name := strings.TrimRight(b.Name[:min(len(b.Name), longestName)], "-.") // a dot and a dash must not be adjacent in a name
	return name + "-" + hex.EncodeToString(sum[:])[:10]
}

// orderID returns the same for all attempts, so that they do not repeat what an earlier attempt has completed after
// all.
func (w work) orderID() string { return fmt.Sprintf("%s-%d", w.task, w.due.Unix()) }

func (w work) id() string { return fmt.Sprintf("%s-%d-%d", w.task, w.due.Unix(), w.attempt) }

func (w work) labels() map[string]string {
	out := backuppod.Labels()
	out[taskLabel], out[dueLabel], out[attemptLabel] = string(w.task), strconv.FormatInt(w.due.Unix(), 10), strconv.Itoa(w.attempt)
	return out
}

// worksOf returns all possible attempts of the last run at a task.
func worksOf(b *etcdv1beta2.EtcdBackup, t task) []work {
	var out []work
	for attempt := 1; attempt <= etcdv1beta2.BackupAttempts; attempt++ {
		out = append(out, work{t, b.Status.Run.Due.Time, attempt})
	}
	return out
}

// dueOf returns the time of a pod's run, from its label.
func dueOf(pod *corev1.Pod) time.Time {
	due, _ := strconv.ParseInt(pod.Labels[dueLabel], 10, 64)
	return time.Unix(due, 0)
}
