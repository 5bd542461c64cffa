// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package served reads which SSH files the agents in a Diva's pods serve. An agent logs a digest of its files, and the
// API server gives access to the log. Package ring computes the digest that each pod should report.
package served

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
	// askTimeout limits the time for reading the logs of all pods of a Diva. A node that does not respond must not
	// delay other Divas.
	askTimeout = 2 * time.Second
	// askAtOnce is the number of logs that are read concurrently.
	askAtOnce = 16
	// logLines is the number of log lines to read. An agent writes fewer lines than this between two changes of its
	// files.
	logLines = int64(50)
	// logBytes is the maximum length of these lines. The lines of an agent are much shorter.
	logBytes = int64(64 << 10)
)

// errLong is the error for a log that no agent writes.
var errLong = fmt.Errorf("the last %d lines of the log have more than %d bytes", logLines, logBytes)

// LogReader returns the last lines of the log of a pod's agent.
type LogReader func(ctx context.Context, pod *corev1.Pod) (string, error)

// Logs returns a LogReader that reads the logs of a container from the API server.
func Logs(clientset kubernetes.Interface, container string) LogReader {
	return func(ctx context.Context, pod *corev1.Pod) (string, error) {
		lines, most := logLines, logBytes+1
		log, err := clientset.CoreV1().Pods(pod.Namespace).
			GetLogs(pod.Name, &corev1.PodLogOptions{Container: container, TailLines: &lines, LimitBytes: &most}).Stream(ctx)
		if err != nil {
			return "", err
		}
		defer log.Close()
		return bounded(log)
	}
}

// bounded reads a log. A kubelet may ignore the limit in the request, so bounded has a limit, too. A log that exceeds
// it has no result, because its last report may be missing.
func bounded(log io.Reader) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(log, logBytes+1))
	if err == nil && int64(len(raw)) > logBytes {
		err = errLong
	}
	return string(raw), err
}

// Reader reads which SSH files the pods serve, as a digest of the files, and remembers the result. Once the log of a
// pod has shown the wanted digest, Reader does not read this log again.
type Reader struct {
	Log   LogReader
	known kit.Memory[client.ObjectKey, map[string]string]
}

// Digests returns the digests of the SSH files that pods serve, by the UIDs of the pods. wanted returns the digest that
// a pod should serve. Once the log of a pod has shown this digest, Digests does not read the log again. A pod whose log
// cannot be read has no digest.
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
	_ = group.Wait() // no read returns an error; pods whose logs could not be read have no digest
	r.known.Set(of, out)
	return out
}

// Forget drops what the Reader remembers about the SSH files of the pods of a Diva.
func (r *Reader) Forget(key client.ObjectKey) { r.known.Forget(key) }

// Role returns the role of a pod: client or manager.
func Role(pod *corev1.Pod) string { return pod.Labels["app.kubernetes.io/component"] }
