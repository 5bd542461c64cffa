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
	// pollInterval is short compared with the minute that a kubelet takes to update a Secret.
	pollInterval = time.Second
	maxFileBytes = 1 << 20 // the limit of a Secret
)

// keys returns the names of the key in Secrets of opcrew, Envoy Gateway and ingress-nginx.
func keys() []string { return []string{"htpasswd", ".htpasswd", "auth"} }

var (
	errNoLine = errors.New("there is no valid htpasswd line")
	// errEmptied reports a file without any user. Unlike a file with a mistake it takes effect, because it is intended.
	errEmptied = fmt.Errorf("a credentials file has no user: %w", errNoLine)
)

// store holds the current credentials, and follows changes in their directories. While it cannot read any it keeps the
// last good ones. An empty file takes effect.
type store struct {
	directories []string
	log         *slog.Logger
	metrics     *metrics
	current     atomic.Pointer[credentials]
	problem     atomic.Pointer[string] // why the last reload failed

	seen []fs.FileInfo // the files at the last read; only refresh uses it
}

// watch polls the directories until ctx ends. A stat costs little, and file notifications can miss the switch of
// symlinks by which a kubelet updates a Secret.
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

// refresh reads the files again if they have changed. It checks for changes before it reads, so that the next call sees
// a change that happens in between.
func (s *store) refresh() {
	now := s.look()
	if unchanged(s.seen, now) {
		return
	}
	lines, from, err := s.read()
	if err == nil || errors.Is(err, errNoLine) {
		s.seen = now // an unreadable file may become readable without a change
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
	s.log.Info("Credentials loaded", "from", from, "lines", len(lines))
}

func (s *store) keep(err error) {
	s.metrics.failedReloads.Add(1)
	text := err.Error()
	if last := s.problem.Swap(&text); last == nil || *last != text {
		s.log.Error("The credentials were not loaded", "error", text, "kept", s.current.Load() != nil)
	}
}

// look returns the file info of each possible credentials file, nil if there is no such file.
func (s *store) look() []fs.FileInfo {
	var found []fs.FileInfo
	for _, dir := range s.directories {
		for _, key := range keys() {
			info, _ := os.Stat(filepath.Join(dir, key)) // read returns the error
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

// read returns the lines of the first file with a valid line. An unreadable file is an error and ends the search,
// because it may be an override that locks a user out.
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
				s.log.Warn("Line skipped", "file", path, "line", b.Line, "reason", b.Reason.Error())
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
