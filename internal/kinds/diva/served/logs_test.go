// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package served

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// mostSent is how many bytes a hostile log may send before the reader stops: the limit, and buffers of the network.
const mostSent = 16 << 20

// logServer is an API server that answers every request for a log with a text, over and over until it has sent many
// times the limit. It ignores limits in requests, as a kubelet that lies would.
type logServer struct {
	text  string
	times int
	sent  atomic.Int64
	query atomic.Value
}

func (s *logServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.query.Store(r.URL.RawQuery)
	for range s.times {
		n, err := w.Write([]byte(s.text))
		if s.sent.Add(int64(n)); err != nil {
			return
		}
	}
}

// read reads the log that the server sends.
func (s *logServer) read(t *testing.T) (string, error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*askTimeout)
	defer cancel()
	pod := newPod("a", "client")
	pod.Namespace = "shop"
	return Logs(clientset, "ssh-files")(ctx, pod)
}

func TestALogWithoutEndIsReadUpToALimitAndHasNoResult(t *testing.T) {
	block := strings.Repeat("x", 64<<10)
	for name, text := range map[string]string{
		"an endless line":      block,
		"lines without end":    strings.Repeat("\n", 64<<10),
		"reports without end":  strings.Repeat(`{"msg":"Serving","digest":"aa"}`+"\n", 2000),
		"lists within a list":  strings.Repeat("[", 64<<10),
		"a report, then noise": `{"msg":"Serving","digest":"aa"}` + "\n" + block,
	} {
		t.Run(name, func(t *testing.T) {
			s := &logServer{text: text, times: 2048}
			if log, err := s.read(t); err == nil || len(log) > 2*int(logBytes) {
				t.Errorf("expected an error and at most %d bytes, got %v and %d bytes", 2*logBytes, err, len(log))
			}
			if sent := s.sent.Load(); sent > mostSent {
				t.Errorf("expected the operator to stop reading after %d bytes, it read about %d", logBytes, sent)
			}
		})
	}
}

func TestTheLogOfAnAgentIsReadWhole(t *testing.T) {
	s := &logServer{text: strings.Repeat("x", int(logBytes)-1) + "\n", times: 1}
	log, err := s.read(t)
	if err != nil || log != s.text {
		t.Errorf("expected the whole log of %d bytes, got %d bytes and %v", len(s.text), len(log), err)
	}
	same(t, "the request", "container=ssh-files&limitBytes=65537&tailLines=50", s.query.Load())
}
