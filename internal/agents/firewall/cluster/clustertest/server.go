// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clustertest has an API server for tests of the firewall agent. It serves ConfigMaps and takes the reports of
// nodes. Only tests import the package.
package clustertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// Server is an API server with some ConfigMaps.
type Server struct {
	*httptest.Server
	// Calls are all calls, without their parameters.
	Calls []string
	// Reports has the last patch of each Node.
	Reports map[string]string

	mutex   sync.Mutex
	maps    map[string]string
	version int
	changes chan struct{} // closed after each change
	history []change
	gone    bool
}

type change struct {
	version          int
	kind, name, text string
}

// New returns a server that is not started yet, so that a test can give it another listener.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Reports: map[string]string{}, maps: map[string]string{}, version: 1, changes: make(chan struct{})}
	s.Server = httptest.NewUnstartedServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// Config returns the configuration of a client.
func (s *Server) Config() *rest.Config { return &rest.Config{Host: s.URL} }

// Set writes a ConfigMap; an empty text deletes it.
func (s *Server) Set(name, text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.version++
	kind := "MODIFIED"
	if s.maps[name] = text; text == "" {
		kind = "DELETED"
		delete(s.maps, name)
	}
	s.history = append(s.history, change{s.version, kind, name, text})
	close(s.changes)
	s.changes = make(chan struct{})
}

// Expire makes the server forget the versions of which watches can continue.
func (s *Server) Expire() {
	s.mutex.Lock()
	s.gone = true
	s.mutex.Unlock()
	s.CloseClientConnections()
}

// Report returns the last report of a Node.
func (s *Server) Report(node string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.Reports[node]
}

// Count returns the number of calls that begin with a text.
func (s *Server) Count(call string) (n int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, c := range s.Calls {
		if strings.HasPrefix(c, call) {
			n++
		}
	}
	return n
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.Calls = append(s.Calls, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("watch"))
	s.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/version":
		fmt.Fprint(w, "{}")
	case r.Method == http.MethodPatch:
		body, _ := io.ReadAll(r.Body)
		s.mutex.Lock()
		s.Reports[strings.TrimPrefix(r.URL.Path, "/api/v1/nodes/")] = string(body)
		s.mutex.Unlock()
		fmt.Fprint(w, `{"kind":"Node","apiVersion":"v1"}`)
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	default:
		s.list(w)
	}
}

func (s *Server) list(w io.Writer) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.gone = false
	list := &corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}, ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(s.version)}}
	for name, text := range s.maps {
		list.Items = append(list.Items, *object(name, text, s.version))
	}
	_ = json.NewEncoder(w).Encode(list)
}

func object(name, text string, version int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: nodefirewall.Namespace, Name: name, ResourceVersion: fmt.Sprint(version)},
		Data:       map[string]string{nodefirewall.Key: text},
	}
}

// watch sends the changes after the version that the client knows.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	seen, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	s.mutex.Lock()
	gone := s.gone
	s.mutex.Unlock()
	if gone {
		w.WriteHeader(http.StatusGone)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
		return
	}
	flush := http.NewResponseController(w)
	for {
		s.mutex.Lock()
		for _, c := range s.history {
			if c.version > seen {
				_ = json.NewEncoder(w).Encode(map[string]any{"type": c.kind, "object": object(c.name, c.text, c.version)})
			}
		}
		seen = s.version
		changes := s.changes
		s.mutex.Unlock()
		_ = flush.Flush()
		select {
		case <-r.Context().Done():
			return
		case <-changes:
		}
	}
}
