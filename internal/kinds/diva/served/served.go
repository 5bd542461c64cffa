// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package served reads which files the ssh agents in a Diva's pods serve. An agent writes a digest of the files to its
// log, which the API server can read. Package ring computes what the digests should be.
package served

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

const (
	// askTimeout limits the time for reading all pods of a Diva, so that a node that does not respond does not delay
	// other Divas.
	askTimeout = 2 * time.Second
	// askAtOnce is how many pods are read at the same time.
	askAtOnce = 16
	// logLines is more than an agent writes between two changes of its files.
	logLines = int64(50)
)

// LogReader returns the end of the log of a pod's agent.
type LogReader func(ctx context.Context, pod *corev1.Pod) (string, error)

// Logs reads the logs of a container from the API server.
func Logs(clientset kubernetes.Interface, container string) LogReader {
	return func(ctx context.Context, pod *corev1.Pod) (string, error) {
		lines := logLines
		raw, err := clientset.CoreV1().Pods(pod.Namespace).
			GetLogs(pod.Name, &corev1.PodLogOptions{Container: container, TailLines: &lines}).DoRaw(ctx)
		return string(raw), err
	}
}

// Reader remembers the digests that pods serve, and does not read a log again once it has shown the wanted digest.
type Reader struct {
	Log   LogReader
	known kit.Memory[client.ObjectKey, map[string]string]
}

// Digests returns the digests of what pods serve, by their UIDs. wanted is the one of a pod that needs no second reading.
// A pod whose log cannot be read has none.
func (r *Reader) Digests(ctx context.Context, of client.ObjectKey, pods []*corev1.Pod, wanted func(*corev1.Pod) string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	known, mu, out := r.known.Get(of), sync.Mutex{}, map[string]string{}
	keep := func(uid, digest string) {
		mu.Lock()
		defer mu.Unlock()
		out[uid] = digest
	}
	group := errgroup.Group{}
	group.SetLimit(askAtOnce)
	for _, pod := range pods {
		uid := string(pod.UID)
		if known[uid] != "" && known[uid] == wanted(pod) {
			keep(uid, known[uid])
			continue
		}
		group.Go(func() error {
			if log, err := r.Log(ctx, pod); err == nil {
				keep(uid, cmp.Or(sshkeys.Served(log), known[uid]))
			}
			return nil
		})
	}
	_ = group.Wait() // digests of failed reads stay unknown
	r.known.Set(of, out)
	return out
}

// Forget drops what is remembered about a Diva.
func (r *Reader) Forget(key client.ObjectKey) { r.known.Forget(key) }

// Role returns the role of a pod in its Diva.
func Role(pod *corev1.Pod) string { return pod.Labels["app.kubernetes.io/component"] }
