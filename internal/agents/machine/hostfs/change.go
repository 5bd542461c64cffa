// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"crypto/rand"
	"errors"
	"path"

	"golang.org/x/sys/unix"
)

// temporary returns the name of an entry while it is created. It depends only on the final name, so that a later call
// finds what a crash left behind. It is a hash, because a longer name than the final one might not fit.
func temporary(name string) string { return ".opcrew-" + Hash([]byte(name))[:16] }

// free removes what a crash left at the temporary name of an entry. A user may have put a directory with entries there
// to stop opcrew. Then the name is a random one, which Settle does not find after a crash.
func free(d Dir, name string) (next string, err error) {
	next = temporary(name)
	if err := discard(d, next); !isInUse(err) {
		return next, err
	}
	return temporary(rand.Text()), nil
}

// isInUse reports whether a directory cannot be removed, because it has entries or is a mount point.
func isInUse(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) || errors.Is(err, unix.EBUSY)
}

func discard(d Dir, next string) error {
	info, err := d.Stat(next)
	if err == nil {
		err = d.Remove(next, info.Type == Directory)
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// Change gives an existing file or directory another owner, mode and label. A crash may leave it with only some of
// them.
func (f *FS) Change(p string, want Entry) error {
	return f.inside(p, func(d Dir, name string) error { return change(d, name, want) })
}

// Remove removes a file, a link or an empty directory. It is no error if nothing is there.
func (f *FS) Remove(p string) error {
	err := f.inside(p, func(d Dir, name string) error {
		info, err := d.Stat(name)
		if err == nil {
			err = d.Remove(name, info.Type == Directory)
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
		return d.Sync()
	})
	return ignoreAbsent(err)
}

// IsInUse reports whether a directory could not be removed, because it has entries or is a mount point.
func IsInUse(err error) bool { return isInUse(err) }

// Settle completes an earlier change after a crash of the process: it removes the temporary entry of the path, and
// writes to disk what the path shows now.
func (f *FS) Settle(p string) error {
	err := f.inside(p, func(d Dir, name string) error {
		if err := discard(d, temporary(name)); err != nil && !isInUse(err) {
			return err
		}
		if err := syncEntry(d, name); err != nil {
			return err
		}
		return d.Sync()
	})
	return ignoreAbsent(err)
}

func syncEntry(d Dir, name string) error {
	info, err := d.Stat(name)
	if err != nil || info.Type == Other {
		return ignoreAbsent(err)
	}
	entry, err := d.Handle(name)
	if err != nil {
		return err
	}
	defer entry.Close()
	return entry.Sync()
}

func ignoreAbsent(err error) error {
	if isAbsent(err) {
		return nil
	}
	return err
}

// SyncAll writes the whole file system of a directory to disk, for changes that another program made.
func (f *FS) SyncAll(directory string) error {
	d, err := f.disk.OpenDir(directory)
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	return d.SyncAll()
}

// MakeAll creates a directory with its parents, for the agent itself. Only root can enter those that it creates.
func (f *FS) MakeAll(p string) error {
	found, err := f.Read(p)
	if err != nil || found.Type == Directory {
		return err
	}
	if err := f.MakeAll(path.Dir(p)); err != nil {
		return err
	}
	return f.MakeDirectory(p, Entry{Type: Directory, Mode: 0o700})
}
