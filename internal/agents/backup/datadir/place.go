// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// markerFile is the path, inside the data directory, of the file that records which order (a task from the operator)
// restored the directory. The file is in the member directory, because etcd would warn about an unknown file at the top
// level of the data directory.
const markerFile = "member/opcrew-restore.json"

// Marker is the content of a file in a data directory. It records which order (a task from the operator) restored the
// directory.
type Marker struct {
	Order   string         `json:"order"`
	Restore backup.Restore `json:"restore"`
	// Result is the result of the restore that created the directory.
	Result backup.Result `json:"result"`
}

// Place is the path at which a data directory is to be created.
type Place struct{ dir string }

// At returns the Place for the path of a data directory.
func At(dir string) Place { return Place{dir} }

// work returns a directory next to the place, on the same volume, for unfinished work. etcd does not read it.
func (p Place) work() string {
	return filepath.Join(filepath.Dir(p.dir), "."+filepath.Base(p.dir)+".restoring")
}

// Snapshot returns the path of the snapshot until Finish is called.
func (p Place) Snapshot() string { return filepath.Join(p.work(), "snapshot.db") }

// Made returns the path of the new data directory until Finish is called.
func (p Place) Made() string { return filepath.Join(p.work(), "data") }

// Look returns the marker (the record of the order that created the directory) if the same order already created the
// directory, and nil if the place is empty. Any other content is an error.
func (p Place) Look(order string, r backup.Restore) (*Marker, error) {
	entries, err := os.ReadDir(p.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil, nil
	case err != nil:
		return nil, volume(err)
	}
	text, err := os.ReadFile(filepath.Join(p.dir, markerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, backup.Fail(backup.ReasonDataDirInUse, "the data directory %s is not empty, and was not restored", p.dir)
	}
	if err != nil {
		return nil, volume(err)
	}
	var m Marker
	if json.Unmarshal(text, &m) != nil || m.Order != order || !same(m.Restore, r) {
		return nil, backup.Fail(backup.ReasonDataDirInUse, "the data directory %s was restored by another order (%q)", p.dir, m.Order)
	}
	return &m, nil
}

func same(a, b backup.Restore) bool {
	left, _ := json.Marshal(a)  // encoding strings and numbers cannot fail
	right, _ := json.Marshal(b) // encoding strings and numbers cannot fail
	return bytes.Equal(left, right)
}

// Begin removes unfinished work that a crash left behind, and creates the work directory.
func (p Place) Begin() error {
	err := os.RemoveAll(p.work())
	if err == nil {
		err = os.Mkdir(p.work(), 0o700)
	}
	if err != nil {
		return volume(err)
	}
	return nil
}

// Abandon removes the work directory after a failure.
func (p Place) Abandon() { os.RemoveAll(p.work()) }

// Finish moves the new directory into its place atomically.
func (p Place) Finish(m Marker) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode the marker: %w", err)
	}
	os.Remove(p.Snapshot())
	err = durable.Replace(filepath.Join(p.Made(), markerFile), bytes.NewReader(append(text, '\n')), 0o600)
	if err == nil {
		err = syncTree(p.Made())
	}
	if err == nil {
		err = p.move()
	}
	if err != nil {
		return volume(err)
	}
	os.RemoveAll(p.work())
	return nil
}

func (p Place) move() error {
	// os.Rename does not replace an empty directory, but syscall.Rename does.
	if err := syscall.Rename(p.Made(), p.dir); err != nil {
		return fmt.Errorf("rename %s to %s: %w", p.Made(), p.dir, err)
	}
	return durable.SyncDir(filepath.Dir(p.dir))
}

// syncTree syncs all files and directories in a directory to disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return err
		}
		return durable.SyncDir(path) // SyncDir also works for files
	})
}

// volume adds a reason code to an error of a file operation on the volume. The agent reports the code in its result.
func volume(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return backup.Fail(backup.ReasonDiskFull, "the volume of the data directory is full: %w", err)
	}
	return backup.Fail(backup.ReasonVolumeFailed, "the volume of the data directory cannot be used: %w", err)
}
