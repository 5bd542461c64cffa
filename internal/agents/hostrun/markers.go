// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

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

	resultSuffix = ".result"
	nextSuffix   = ".next"
	// maxFile is more than any marker or result has.
	maxFile = 64 << 10
)

// ledger is what the host remembers of runs.
type ledger interface {
	// find reports an earlier beginning of this very run, if there was one.
	find(key string) (*marker, error)
	// take marks the run as begun, on the disk, or fails: with fs.ErrExist if it was begun before.
	take(key string, m marker) error
	// result is what the run has come to, if that is known; keep makes it known.
	result(key string) ([]byte, error)
	keep(key string, result []byte) error
	// empty reports whether no run at all is remembered.
	empty() (bool, error)
	// forget removes what is known of other runs, of Activities from before a time.
	forget(before time.Time, own string)
}

// marker stands for a run that was begun.
type marker struct {
	Created time.Time `json:"created"` // of the Activity, by the clock of the API server
	Started time.Time `json:"started"`
	BootID  string    `json:"bootID"`
}

// markers is a ledger in a directory.
type markers struct {
	root *os.Root
	now  func() time.Time
}

// key names the marker of a run; its result is the file beside it.
func key(o hostjob.Order) string { return o.UID + "-" + strconv.FormatInt(o.Run, 10) }

func (m *markers) close() { _ = m.root.Close() }

func (m *markers) find(key string) (*marker, error) {
	text, err := m.read(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var found marker
	if err == nil {
		// A marker counts whatever is in it: it may have been cut off by a crash.
		_ = json.Unmarshal(text, &found)
	}
	return &found, err
}

func (m *markers) take(key string, content marker) error {
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encode the marker: %w", err)
	}
	return m.write(key, text)
}

func (m *markers) result(key string) ([]byte, error) { return m.read(key + resultSuffix) }

// keep puts the result in place as one step.
func (m *markers) keep(key string, result []byte) error {
	next := key + nextSuffix
	if err := m.root.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := m.write(next, result); err != nil {
		return err
	}
	if err := m.root.Rename(next, key+resultSuffix); err != nil {
		return err
	}
	return m.sync()
}

// write makes a new file, on the disk with its name when it returns. What it could not
// finish it takes away again: a marker that counts as not taken must not be found later.
func (m *markers) write(name string, text []byte) (err error) {
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

func (m *markers) sync() error {
	dir, err := m.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (m *markers) read(name string) ([]byte, error) {
	file, err := m.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}
