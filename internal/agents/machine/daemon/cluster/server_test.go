// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server is an API server with one Node and some Secrets.
type server struct {
	*httptest.Server
	mutex    sync.Mutex
	node     map[string]string // its annotations
	version  int
	secrets  map[string]map[string][]byte
	status   int // the status of every answer; 0 for normal answers
	calls    []string
	accepts  []string
	token    string // that TokenRequest returns
	requests []string
	changed  chan struct{} // closed after each change of the Node
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{node: map[string]string{"a": "1"}, version: 9, secrets: map[string]map[string][]byte{}, changed: make(chan struct{})}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// credentials writes the credentials for the server into a directory.
func (s *server) credentials(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	content, err := json.Marshal(Server{URL: s.URL, CA: string(ca), Node: "node-a"})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, ServerFile), content, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, TokenFile), []byte("secret-token\n"), 0o600))
	return dir
}

// client returns a client that watches the Node until the test ends.
func (s *server) client(t testing.TB, clock clock.WithTicker) (*Client, string) {
	t.Helper()
	dir := s.credentials(t)
	c, err := New(dir, clock, slog.New(slog.NewTextHandler(io.Discard, nil)))
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { c.Watch(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); s.CloseClientConnections(); <-ended })
	return c, dir
}

// set changes the annotations of the Node.
func (s *server) set(change func(annotations map[string]string)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change(s.node)
	s.version++
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *server) count(call string) (n int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, c := range s.calls {
		if strings.HasPrefix(c, call) {
			n++
		}
	}
	return n
}

func (s *server) object() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{Name: "node-a", UID: "uid-a", ResourceVersion: fmt.Sprint(s.version), Annotations: maps.Clone(s.node)},
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mutex.Lock()
	status := s.status
	s.calls, s.accepts = append(s.calls, r.Method+" "+r.URL.String()), append(s.accepts, r.Header.Get("Accept"))
	s.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case status != 0:
		fail(w, status, metav1.StatusReasonUnknown)
	case r.Header.Get("Authorization") != "Bearer secret-token":
		fail(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized)
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	case r.Method == http.MethodPatch:
		s.patch(w, body)
	case strings.HasSuffix(r.URL.Path, "/token"):
		s.tokenRequest(w, body)
	case strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/opcrew-machines/secrets/"):
		s.secret(w, filepath.Base(r.URL.Path))
	default:
		s.mutex.Lock()
		defer s.mutex.Unlock()
		answer(w, s.object())
	}
}

func answer(w http.ResponseWriter, object any) { _ = json.NewEncoder(w).Encode(object) }

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.WriteHeader(code)
	answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason})
}

func (s *server) watch(w http.ResponseWriter, r *http.Request) {
	kind := "ADDED"
	for {
		s.mutex.Lock()
		object, changed := s.object(), s.changed
		s.mutex.Unlock()
		answer(w, map[string]any{"type": kind, "object": object})
		_ = http.NewResponseController(w).Flush()
		kind = "MODIFIED"
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
	}
}

func (s *server) patch(w http.ResponseWriter, body []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	old, _ := json.Marshal(s.object())
	patch, err := jsonpatch.DecodePatch(body)
	var text []byte
	if err == nil {
		text, err = patch.Apply(old)
	}
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
		return
	}
	var object metav1.PartialObjectMetadata
	_ = json.Unmarshal(text, &object)
	s.node = object.Annotations
	s.version++
	answer(w, s.object())
}

func (s *server) secret(w http.ResponseWriter, name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	data, found := s.secrets[name]
	if !found {
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	answer(w, corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, Data: data})
}

func (s *server) tokenRequest(w http.ResponseWriter, body []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.requests = append(s.requests, string(body))
	answer(w, map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "status": map[string]any{"token": s.token}})
}

// token returns an unsigned JSON Web Token.
func token(issued, expires time.Time) string {
	claims := fmt.Sprintf(`{"iat":%d,"exp":%d}`, issued.Unix(), expires.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// eventually waits until a condition is true.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("expected %s", what)
		}
	}
}
