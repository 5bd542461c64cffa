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
	// Labels of a backup pod for users: its task (save or verify), the time of its run in Unix seconds, and the number
	// of the attempt. opcrew itself finds pods by their names, which no one can change.
	taskLabel    = "etcd.opcrew.io/task"
	dueLabel     = "etcd.opcrew.io/due"
	attemptLabel = "etcd.opcrew.io/attempt"
	// orderAnnotation holds the order of a pod: what it has to save or verify, and where.
	orderAnnotation = "etcd.opcrew.io/order"
	// generationAnnotation holds the spec's generation when the pod was created. settingsAnnotation holds a hash of the
	// spec's pod settings at that time.
	generationAnnotation, settingsAnnotation = "etcd.opcrew.io/generation", "etcd.opcrew.io/settings"

	// longestName is the maximum number of characters of the EtcdBackup's name in the name of a pod. Pod names are
	// limited to 253 characters.
	longestName = 200
)

// task is what a pod does: save a backup, or verify one by restoring it.
type task string

const (
	save   task = "save"
	verify task = "verify"
)

// work is one attempt at a task in the run that was due at a given time.
type work struct {
	task    task
	due     time.Time
	attempt int
}

// podName returns a name that depends only on the EtcdBackup and the attempt. Two instances of the operator thus create
// the same pod, and not two.
func (w work) podName(b *etcdv1beta2.EtcdBackup) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s", b.UID, w.id()))
	name := strings.TrimRight(b.Name[:min(len(b.Name), longestName)], "-.") // in a name, a dash must not follow a dot
	return name + "-" + hex.EncodeToString(sum[:])[:10]
}

// orderID returns the ID that all attempts at a task share. The backup program does not carry out an order twice under
// one ID. So an attempt does not repeat what an earlier attempt, which seemed to fail, has completed.
func (w work) orderID() string { return fmt.Sprintf("%s-%d", w.task, w.due.Unix()) }

func (w work) id() string { return fmt.Sprintf("%s-%d-%d", w.task, w.due.Unix(), w.attempt) }

func (w work) labels() map[string]string {
	out := backuppod.Labels()
	out[taskLabel], out[dueLabel], out[attemptLabel] = string(w.task), strconv.FormatInt(w.due.Unix(), 10), strconv.Itoa(w.attempt)
	return out
}

// worksOf returns the attempts at a task that the last recorded run may make.
func worksOf(b *etcdv1beta2.EtcdBackup, t task) []work {
	var out []work
	for attempt := 1; attempt <= etcdv1beta2.BackupAttempts; attempt++ {
		out = append(out, work{t, b.Status.Run.Due.Time, attempt})
	}
	return out
}

// dueOf returns the time of a pod's run from the pod's label.
func dueOf(pod *corev1.Pod) time.Time {
	due, _ := strconv.ParseInt(pod.Labels[dueLabel], 10, 64)
	return time.Unix(due, 0)
}
