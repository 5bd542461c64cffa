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

// markerFile is below the directory that etcd looks into: beside it, etcd warns of other owners.
const markerFile = "member/opcrew-restore.json"

// Marker is in a data directory that was restored. It tells by which order.
type Marker struct {
	Order   string         `json:"order"`
	Restore backup.Restore `json:"restore"`
	// Result is what the order had.
	Result backup.Result `json:"result"`
}

// Place is where a data directory is to be.
type Place struct{ dir string }

// At is the place of a restore.
func At(dir string) Place { return Place{dir} }

// work is a directory beside the place, on the same volume. No etcd looks there.
func (p Place) work() string {
	return filepath.Join(filepath.Dir(p.dir), "."+filepath.Base(p.dir)+".restoring")
}

// Snapshot and Made are where the snapshot and the new directory are until Finish.
func (p Place) Snapshot() string { return filepath.Join(p.work(), "snapshot.db") }

// Made is the data directory before it is in its place.
func (p Place) Made() string { return filepath.Join(p.work(), "data") }

// Look reports whether this very order has been carried out: then it gives its marker. Anything
// else in the place is an error.
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
	left, _ := json.Marshal(a)  // of strings and numbers
	right, _ := json.Marshal(b) // as above
	return bytes.Equal(left, right)
}

// Begin removes what a crash may have left beside the place.
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

// Abandon removes what was begun.
func (p Place) Abandon() { os.RemoveAll(p.work()) }

// Finish puts what was made into its place. A crash leaves nothing there, or all of it.
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
	// The system replaces an empty directory and no other; os.Rename replaces none.
	if err := syscall.Rename(p.Made(), p.dir); err != nil {
		return fmt.Errorf("rename %s to %s: %w", p.Made(), p.dir, err)
	}
	return durable.SyncDir(filepath.Dir(p.dir))
}

// syncTree has all below a directory on the disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return err
		}
		return durable.SyncDir(path) // files are synced as directories are
	})
}

// volume gives an error of the volume its reason.
func volume(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return backup.Fail(backup.ReasonDiskFull, "the volume of the data directory has no room left: %w", err)
	}
	return backup.Fail(backup.ReasonVolumeFailed, "the volume of the data directory cannot be used: %w", err)
}
