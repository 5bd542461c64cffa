// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

const (
	key = "sEcReTsEcReTsEcReT/0123456789"
	id  = "AKIDEXAMPLE"
)

// server is an S3 server in this process. A test can set a door: a function that sees each request first and may
// respond itself.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	door func(http.ResponseWriter, *http.Request) bool
}

// newServer returns a server with the bucket shop. A door is a function that sees each request first. It returns true
// if it has responded to the request itself.
func newServer(t *testing.T) *server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("shop"); err != nil {
		t.Fatal(err)
	}
	behind := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		door := s.door
		s.mu.Unlock()
		if door == nil || !door(w, r) {
			behind.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) through(door func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.door = door
}

// refuse returns a door (a function that sees each request first) that refuses matching requests with an S3 error.
func refuse(status int, code string, matches func(*http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !matches(r) {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body) // the body is read first, because otherwise the connection would break
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = io.WriteString(w, "<?xml version=\"1.0\"?><Error><Code>"+code+"</Code><Message>It is so.</Message><RequestId>1</RequestId></Error>")
		}
		return true
	}
}

func everything(*http.Request) bool { return true }

// files creates a simulated mount of a Secret, and returns its path.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mountedAWS(t *testing.T) string {
	return files(t, map[string]string{
		"credentials": "[default]\naws_access_key_id = " + id + "\naws_secret_access_key = " + key + "\n",
		"config":      "[default]\nregion = eu-central-1\n",
	})
}

func (s *server) target(t *testing.T, bucket string) backup.Target {
	return backup.Target{Type: backup.S3, Path: bucket + "/dir/etcd", SecretDir: mountedAWS(t), Endpoint: s.URL, ForcePathStyle: true}
}

func open(t *testing.T, target backup.Target) Store {
	t.Helper()
	s, _, err := Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// holds expects an object with this content; "" means that the object must not exist.
func holds(t *testing.T, s Store, key, want string) {
	t.Helper()
	r, size, err := s.Get(t.Context(), key)
	if want == "" {
		expect(t, err, backup.ReasonObjectMissing, key)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if string(text) != want || err != nil || size != int64(len(want)) {
		t.Errorf("expected %d bytes at %q, got %d of %d, %v", len(want), key, len(text), size, err)
	}
}

// expect checks the reason and the text of an error. The text must be one line and contain no secrets.
func expect(t *testing.T, err error, reason backup.Reason, words ...string) {
	t.Helper()
	if err == nil || backup.ReasonOf(err, "") != reason {
		t.Errorf("expected %s, got %q: %v", reason, backup.ReasonOf(err, ""), err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("expected %q in %q", word, err)
		}
	}
	if text := err.Error(); strings.Contains(text, "\n") || strings.Contains(text, key) || len(text) > 400 {
		t.Errorf("expected a short line without the secret, got %q", text)
	}
}

var errBroken = errors.New("the source broke")
