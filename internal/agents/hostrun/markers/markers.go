// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package markers records on the host which runs were started, with their results. It does not decide whether a run may
// start.
package markers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	privateFile fs.FileMode = 0o600

	// ResultSuffix is the suffix of the result file of a run.
	ResultSuffix = ".result"
	nextSuffix   = ".next"
	// maxFile limits how many bytes of a marker or a result are read. Valid markers and results are smaller.
	maxFile = 64 << 10
)

// Ledger records which runs were started on a host.
type Ledger interface {
	// Find returns the marker of a run; nil if the run was not started.
	Find(key string) (*Marker, error)
	// Take records on disk that the run with this key was started. It fails with fs.ErrExist if that run was already
	// started.
	Take(key string, m Marker) error
	// Result returns the result that Keep stored.
	Result(key string) ([]byte, error)
	Keep(key string, result []byte) error
	// Empty reports whether the Ledger has no record of any run.
	Empty() (bool, error)
	// Forget removes the records of runs whose Activities were created before the given time. It keeps the record of
	// the run whose key is own.
	Forget(before time.Time, own string)
}

// Marker records that a run was started.
type Marker struct {
	Created time.Time `json:"created"` // creation time of the Activity, by the clock of the API server
	Started time.Time `json:"started"`
	BootID  string    `json:"bootID"`
}

// Dir is a Ledger in a directory of the host.
type Dir struct {
	root *os.Root
	now  func() time.Time
}

// Key returns the name of a run's marker file. The result of the run is in a file next to it.
func Key(o hostjob.Order) string { return o.UID + "-" + strconv.FormatInt(o.Run, 10) }

// Close closes the directory.
func (m *Dir) Close() { _ = m.root.Close() }

// Find returns the marker of a run; nil if there is none.
func (m *Dir) Find(key string) (*Marker, error) {
	text, err := m.read(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var found Marker
	if err == nil {
		// A marker counts even if its content is damaged, because a crash may have truncated it.
		_ = json.Unmarshal(text, &found)
	}
	return &found, err
}

// Take creates the marker of a run. It fails if the marker exists, because then another process has started the run.
func (m *Dir) Take(key string, content Marker) error {
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encode the marker: %w", err)
	}
	return m.write(key, text)
}

// Result returns the result that Keep stored.
func (m *Dir) Result(key string) ([]byte, error) { return m.read(key + ResultSuffix) }

// Keep stores the result of a run atomically.
func (m *Dir) Keep(key string, result []byte) error {
	next := key + nextSuffix
	if err := m.root.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := m.write(next, result); err != nil {
		return err
	}
	if err := m.root.Rename(next, key+ResultSuffix); err != nil {
		return err
	}
	return m.sync()
}

// write creates a file, and syncs it and its name to disk. If that fails, it removes the file: a marker of a run that
// was not started must not be found later.
func (m *Dir) write(name string, text []byte) (err error) {
	file, err := m.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateFile)
	if err != nil {
		return err
	}
	defer func() {
		file.Close()
		if err != nil {
			err = errors.Join(err, m.root.Remove(name))
		}
	}()
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return m.sync()
}

func (m *Dir) sync() error {
	dir, err := m.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (m *Dir) read(name string) ([]byte, error) {
	file, err := m.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}
