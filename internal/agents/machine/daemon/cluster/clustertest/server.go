// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clustertest has an API server for tests of the machine agent. It serves one Node and some Secrets, and
// records calls. Only tests import the package.
package clustertest

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
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

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Server is an API server with one Node and some Secrets.
type Server struct {
	*httptest.Server
	Mutex   sync.Mutex
	Node    map[string]string // the annotations of the Node
	Secrets map[string]map[string][]byte
	// Status is the status of every answer; 0 for normal answers.
	Status int
	// Calls and their headers Accept.
	Calls, Accepts []string
	// Token is what TokenRequest returns, and Requests are its requests.
	Token    string
	Requests []string
	version  int
	changed  chan struct{} // closed after each change of the Node
}

// New starts a server, which the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Node: map[string]string{"a": "1"}, version: 9, Secrets: map[string]map[string][]byte{}, changed: make(chan struct{})}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// Credentials writes the credentials for the server into a directory.
func (s *Server) Credentials(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	content, err := json.Marshal(map[string]string{"url": s.URL, "ca": string(ca), "node": "node-a"})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "server"), content, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "token"), []byte("secret-token\n"), 0o600))
	return dir
}

// Set changes the annotations of the Node.
func (s *Server) Set(change func(annotations map[string]string)) {
	s.Mutex.Lock()
	defer s.Mutex.Unlock()
	change(s.Node)
	s.version++
	close(s.changed)
	s.changed = make(chan struct{})
}

// Count returns the number of calls that begin with a text, such as a verb.
func (s *Server) Count(call string) (n int) {
	s.Mutex.Lock()
	defer s.Mutex.Unlock()
	for _, c := range s.Calls {
		if strings.HasPrefix(c, call) {
			n++
		}
	}
	return n
}

func (s *Server) object() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{Name: "node-a", UID: "uid-a", ResourceVersion: fmt.Sprint(s.version), Annotations: maps.Clone(s.Node)},
	}
}

// ServeHTTP answers a call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.Mutex.Lock()
	status := s.Status
	s.Calls, s.Accepts = append(s.Calls, r.Method+" "+r.URL.String()), append(s.Accepts, r.Header.Get("Accept"))
	s.Mutex.Unlock()
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
		s.Mutex.Lock()
		defer s.Mutex.Unlock()
		answer(w, s.object())
	}
}

func answer(w http.ResponseWriter, object any) { _ = json.NewEncoder(w).Encode(object) }

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.WriteHeader(code)
	answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason})
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	kind := "ADDED"
	for {
		s.Mutex.Lock()
		object, changed := s.object(), s.changed
		s.Mutex.Unlock()
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

func (s *Server) patch(w http.ResponseWriter, body []byte) {
	s.Mutex.Lock()
	defer s.Mutex.Unlock()
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
	s.Node = object.Annotations
	s.version++
	answer(w, s.object())
}

func (s *Server) secret(w http.ResponseWriter, name string) {
	s.Mutex.Lock()
	defer s.Mutex.Unlock()
	data, found := s.Secrets[name]
	if !found {
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	answer(w, corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, Data: data})
}

func (s *Server) tokenRequest(w http.ResponseWriter, body []byte) {
	s.Mutex.Lock()
	defer s.Mutex.Unlock()
	s.Requests = append(s.Requests, string(body))
	answer(w, map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "status": map[string]any{"token": s.Token}})
}

// JWT returns an unsigned JSON Web Token.
func JWT(issued, expires time.Time) string {
	claims := fmt.Sprintf(`{"iat":%d,"exp":%d}`, issued.Unix(), expires.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// Await waits until an annotation of the Node has a value.
func (s *Server) Await(t testing.TB, name, value string) {
	t.Helper()
	eventually.True(t, time.Minute, "annotation "+name+" becomes "+value, func() error {
		s.Mutex.Lock()
		defer s.Mutex.Unlock()
		if found := s.Node[name]; found != value {
			return fmt.Errorf("it is %q", found)
		}
		return nil
	})
}
