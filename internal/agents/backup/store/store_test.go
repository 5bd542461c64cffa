// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// parts is content that is so large that it is uploaded in several parts.
var parts = strings.Repeat("0123456789abcdef", 20<<20/16) + "end"

// each runs a test with a bucket, and with a folder.
func each(t *testing.T, test func(*testing.T, Store)) {
	t.Run("bucket", func(t *testing.T) { test(t, open(t, newServer(t).target(t, "shop"))) })
	t.Run("folder", func(t *testing.T) {
		test(t, open(t, backup.Target{Type: backup.Folder, Path: "dir/etcd", Dir: t.TempDir()}))
	})
}

func TestObjectsAreWrittenReadListedAndDeleted(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		holds(t, s, "dir/etcd", "")
		for key, text := range map[string]string{"dir/etcd": parts, "dir/etcd_v1_2026-07-08-12:00:00": "one", "dir/etc": "x", "etcd": "y", "dir/etcd2": "z"} {
			must(t, s.Put(ctx, key, strings.NewReader(text)))
			holds(t, s, key, text)
		}
		must(t, s.Put(ctx, "dir/etcd", strings.NewReader("again")))
		holds(t, s, "dir/etcd", "again")
		objects, err := s.List(ctx, "dir/etcd_v")
		must(t, err)
		if want := []Object{{"dir/etcd_v1_2026-07-08-12:00:00", 3}}; !slices.Equal(objects, want) {
			t.Errorf("expected %v, got %v", want, objects)
		}
		if none, err := s.List(ctx, "none/there"); len(none) > 0 || err != nil {
			t.Errorf("expected none, got %v, %v", none, err)
		}
		must(t, s.Delete(ctx, "dir/etcd"))
		must(t, s.Delete(ctx, "dir/etcd"))
		holds(t, s, "dir/etcd", "")
	})
}

func TestAnInterruptedUploadLeavesTheOldObject(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		for name, content := range map[string]string{"small": "x", "of parts": parts} {
			for _, before := range []string{"", "what was there"} {
				t.Run(name+before, func(t *testing.T) {
					if before != "" {
						must(t, s.Put(t.Context(), name, strings.NewReader(before)))
					}
					err := s.Put(t.Context(), name, io.MultiReader(strings.NewReader(content), iotest.ErrReader(errBroken)))
					if !errors.Is(err, errBroken) {
						t.Errorf("expected the reason, got %v", err)
					}
					ctx, cancel := context.WithCancelCause(t.Context())
					err = s.Put(ctx, name, io.MultiReader(strings.NewReader(content), during(func() { cancel(errBroken) }), strings.NewReader(content)))
					if err == nil {
						t.Error("expected an ended context to stop the call")
					}
					holds(t, s, name, before)
					must(t, s.Delete(t.Context(), name))
				})
			}
		}
	})
}

// during is an empty reader that calls a function when it is read.
type during func()

func (d during) Read([]byte) (int, error) { d(); return 0, io.EOF }

func TestNoPartsOfABrokenUploadAreLeft(t *testing.T) {
	for name, end := range map[string]func(context.CancelCauseFunc) io.Reader{
		"the source breaks": func(context.CancelCauseFunc) io.Reader { return iotest.ErrReader(errBroken) },
		"the pod ends": func(cancel context.CancelCauseFunc) io.Reader {
			return io.MultiReader(during(func() { cancel(errBroken) }), strings.NewReader(parts))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			server := newServer(t)
			s := open(t, server.target(t, "shop"))
			aborted := make(chan string, 10)
			server.through(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodDelete && r.URL.Query().Has("uploadId") {
					aborted <- r.URL.Path
				}
				return false
			})
			if err := s.Put(ctx, "etcd", io.MultiReader(strings.NewReader(parts), end(cancel))); !errors.Is(err, errBroken) || len(aborted) != 1 {
				t.Errorf("expected the upload to be aborted, got %d, %v", len(aborted), err)
			}
		})
	}
}

// A server that does not respond must not delay the end of a call.
func TestAnUploadEndsSoonAfterItsContext(t *testing.T) {
	server := newServer(t)
	s := open(t, server.target(t, "shop"))
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	ctx, cancel := context.WithCancel(t.Context())
	server.through(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("partNumber") {
			cancel()
			<-ended
		}
		return false
	})
	begun := time.Now()
	if err := s.Put(ctx, "etcd", strings.NewReader(parts)); err == nil || time.Since(begun) > 5*time.Second {
		t.Errorf("got %v after %s", err, time.Since(begun))
	}
}

func TestAFolderHasNoOtherFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, backup.Target{Type: backup.Folder, Path: "a/b/etcd", Dir: dir})
	must(t, s.Put(t.Context(), "a/b/etcd", strings.NewReader("x")))
	_ = s.Put(t.Context(), "a/b/other", iotest.ErrReader(errBroken)) // expected: the content ends with an error
	entries, err := os.ReadDir(filepath.Join(dir, "a", "b"))
	if err != nil || len(entries) != 1 {
		t.Errorf("expected the one object, got %v, %v", entries, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
