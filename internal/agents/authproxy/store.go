// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/podapi/htpasswd"
)

const (
	// pollInterval is how often the files are checked. The interval is short compared with the minute that a kubelet
	// may take to update the files of a mounted Secret.
	pollInterval = time.Second
	maxFileBytes = 1 << 20 // a Secret cannot be larger
)

// keys returns the key names that Secrets of opcrew, Envoy Gateway and ingress-nginx use for credentials.
func keys() []string { return []string{"htpasswd", ".htpasswd", "auth"} }

var (
	errNoLine = errors.New("there is no valid htpasswd line")
	// errEmptied reports a credentials file without any user. In contrast to a file with errors, such a file takes
	// effect: opcrew assumes that a user emptied it on purpose.
	errEmptied = fmt.Errorf("a credentials file has no user: %w", errNoLine)
)

// store holds the current credentials and follows changes of their files. While the files cannot be read, it keeps the
// last valid credentials. An empty file means that no user may log in.
type store struct {
	directories []string
	log         *slog.Logger
	metrics     *metrics
	current     atomic.Pointer[credentials]
	problem     atomic.Pointer[string] // why the last reload failed; nil if it succeeded

	seen []fs.FileInfo // state of the files at the last read; only refresh uses it
}

// watch polls the directories until ctx ends. Polling with stat is cheap. File notifications can miss the change of a
// symlink by which a kubelet updates a Secret.
func (s *store) watch(ctx context.Context, c clock.WithTicker) {
	ticker := c.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			s.refresh()
		}
	}
}

// refresh reads the files again if they have changed. It records the file state before it reads, so that the next call
// notices a change during the read.
func (s *store) refresh() {
	now := s.look()
	if unchanged(s.seen, now) {
		return
	}
	lines, from, err := s.read()
	// If a file could not be read, the next call reads again, because the cause may end without a change of the file.
	if err == nil || errors.Is(err, errNoLine) {
		s.seen = now
	}
	if errors.Is(err, errEmptied) {
		s.current.Store(nil)
	}
	if err != nil {
		s.keep(err)
		return
	}
	s.problem.Store(nil)
	s.current.Store(newCredentials(from, lines, s.current.Load()))
	s.metrics.reloads.Add(1)
	s.log.Info("The credentials were loaded", "from", from, "lines", len(lines))
}

func (s *store) keep(err error) {
	s.metrics.failedReloads.Add(1)
	text := err.Error()
	if last := s.problem.Swap(&text); last == nil || *last != text {
		s.log.Error("The credentials were not loaded", "error", text, "kept", s.current.Load() != nil)
	}
}

// look returns the file info of each possible credentials file; nil for a file that does not exist.
func (s *store) look() []fs.FileInfo {
	var found []fs.FileInfo
	for _, dir := range s.directories {
		for _, key := range keys() {
			info, _ := os.Stat(filepath.Join(dir, key)) // errors are ignored here, because read returns them
			found = append(found, info)
		}
	}
	return found
}

func unchanged(before, now []fs.FileInfo) bool {
	return slices.EqualFunc(before, now, func(a, b fs.FileInfo) bool {
		if a == nil || b == nil {
			return a == b
		}
		return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
	})
}

// read returns the lines of the first file with a valid line. An unreadable file is an error and ends the search: it
// may be the file that locks a user out, and must not be skipped.
func (s *store) read() ([]*htpasswd.Line, string, error) {
	none := errNoLine
	for _, dir := range s.directories {
		for _, key := range keys() {
			path := filepath.Join(dir, key)
			text, err := readFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, "", fmt.Errorf("read credentials: %w", err)
			}
			lines, bad := htpasswd.Parse(text)
			for _, b := range bad {
				s.log.Warn("A line of a credentials file was skipped", "file", path, "line", b.Line, "reason", b.Reason.Error())
			}
			if len(lines) > 0 {
				return lines, path, nil
			}
			s.log.Warn("A credentials file has no valid line", "file", path)
			if len(bad) == 0 {
				none = errEmptied
			}
		}
	}
	return nil, "", fmt.Errorf("%w in %s", none, strings.Join(s.directories, ", "))
}

func readFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFileBytes)
	}
	return string(text), err
}
