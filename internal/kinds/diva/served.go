// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

const (
	// askTimeout bounds one look at all pods of a Diva: one node that hangs holds up no one else.
	askTimeout = 2 * time.Second
	// askAtOnce is how many pods are asked at a time.
	askAtOnce = 16
	// logLines is more than a helper tells between two changes of what it serves.
	logLines = int64(50)
)

// served knows which files the helpers in pods serve: they tell it in their logs, which
// the API server can read wherever kubectl logs works. It asks no pod twice about what it
// has seen there.
type served struct {
	log LogReader

	mu    sync.Mutex
	known map[client.ObjectKey]map[string]string
}

// logReader reads the end of the log of a pod's helper.
func logReader(clientset kubernetes.Interface) LogReader {
	return func(ctx context.Context, pod *corev1.Pod) (string, error) {
		lines := logLines
		raw, err := clientset.CoreV1().Pods(pod.Namespace).
			GetLogs(pod.Name, &corev1.PodLogOptions{Container: helperContainer, TailLines: &lines}).DoRaw(ctx)
		return string(raw), err
	}
}

// ask gives the digests that pods serve, by their UIDs. wanted are those by role that need
// no second question. A pod that cannot be asked serves nothing that is known.
func (s *served) ask(ctx context.Context, of client.ObjectKey, pods []*corev1.Pod, wanted map[string]string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	known, out := s.of(of), sync.Map{}
	group := errgroup.Group{}
	group.SetLimit(askAtOnce)
	for _, pod := range pods {
		uid := string(pod.UID)
		if known[uid] == wanted[role(pod)] && known[uid] != "" {
			out.Store(uid, known[uid])
			continue
		}
		group.Go(func() error {
			if log, err := s.log(ctx, pod); err == nil {
				out.Store(uid, cmp.Or(sshkeys.Served(log), known[uid]))
			}
			return nil
		})
	}
	_ = group.Wait() // what is not known is not waited for
	return s.keep(of, &out)
}

func (s *served) of(key client.ObjectKey) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[key]
}

func (s *served) keep(key client.ObjectKey, found *sync.Map) map[string]string {
	digests := map[string]string{}
	found.Range(func(uid, digest any) bool {
		digests[uid.(string)] = digest.(string)
		return true
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[client.ObjectKey]map[string]string{}
	}
	s.known[key] = digests
	return digests
}

func (s *served) forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, key)
}

// role is what a pod is to its Diva.
func role(pod *corev1.Pod) string { return pod.Labels["app.kubernetes.io/component"] }

// wantedDigests are those of what pods are to serve, by their roles.
func wantedDigests(d *opsv1.Diva, r *ring) map[string]string {
	return map[string]string{
		"client":  sshkeys.Digest(r.clientFiles(extra(d))),
		"manager": sshkeys.Digest(r.managerFiles(d)),
	}
}

// clientsLag and managersLag are how many pods do not serve yet what a Secret says.
func (f facts) clientsLag(d *opsv1.Diva, r *ring) int  { return f.lag(d, r, f.boundClients()) }
func (f facts) managersLag(d *opsv1.Diva, r *ring) int { return f.lag(d, r, f.boundManagers()) }

func (f facts) lag(d *opsv1.Diva, r *ring, pods []*corev1.Pod) int {
	wanted, n := wantedDigests(d, r), 0
	for _, pod := range pods {
		if f.serving[string(pod.UID)] != wanted[role(pod)] {
			n++
		}
	}
	return n
}

// extra are the further keys that clients let in. A public key beside a private one in the
// spec is not further: it belongs to that.
func extra(d *opsv1.Diva) []string {
	if hasInline(d) {
		return nil
	}
	keys, _ := parsePublic(d.Spec.PublicKey)
	return keys
}
