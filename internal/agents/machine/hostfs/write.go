// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// WriteFile replaces what is at a path by a file with this content, and with the owner, mode and label of want. If want
// has no label, the file gets that of the file it replaces.
func (f *FS) WriteFile(p string, content []byte, want Entry) error {
	return f.replace(p, false, func(d Dir, next, name string) error {
		file, err := d.Create(next)
		if err != nil {
			return err
		}
		defer file.Close()
		// The final owner and mode come before the content, so that no one else can read it for a moment.
		if err := setAttributes(file, want.labelled(d, name)); err != nil {
			return err
		}
		if err := writeAll(file, content); err != nil {
			return err
		}
		return file.Sync()
	})
}

func writeAll(file io.Writer, content []byte) error {
	if len(content) == 0 {
		return nil
	}
	_, err := file.Write(content)
	return err
}

// MakeDirectory replaces what is at a path by an empty directory.
func (f *FS) MakeDirectory(p string, want Entry) error {
	return f.replace(p, true, func(d Dir, next, name string) error {
		if err := d.Mkdir(next); err != nil {
			return err
		}
		return change(d, next, want.labelled(d, name))
	})
}

// WriteLink replaces what is at a path by a symbolic link.
func (f *FS) WriteLink(p string, want Entry) error {
	return f.replace(p, false, func(d Dir, next, name string) error {
		if err := d.Symlink(want.Target, next); err != nil {
			return err
		}
		return change(d, next, want.labelled(d, name))
	})
}

// WriteHardLink replaces what is at a path by a second name of the file at another path.
func (f *FS) WriteHardLink(p, file string) error {
	if f.SameFile(p, file) {
		return f.Settle(p)
	}
	return f.replace(p, false, func(d Dir, next, _ string) error { return d.Link(file, next) })
}

// labelled returns the entry with the label of the entry that it replaces, unless it has one.
func (e Entry) labelled(d Dir, name string) Entry {
	if old, err := d.Stat(name); err == nil && old.Type == e.Type && e.Label == "" {
		e.Label = old.Label
	}
	return e
}

// change gives an existing entry other attributes, and writes them to disk.
func change(d Dir, name string, want Entry) error {
	entry, err := d.Handle(name)
	if err != nil {
		return err
	}
	defer entry.Close()
	if err := setAttributes(entry, want); err != nil {
		return err
	}
	return entry.Sync()
}

// setAttributes changes the owner first, because the kernel then clears setuid and setgid.
func setAttributes(entry Handle, want Entry) error {
	if err := entry.Chown(want.UID, want.GID); err != nil {
		return err
	}
	if err := entry.Chmod(want.Mode); err != nil {
		return err
	}
	return entry.SetLabel(want.Label)
}

// replace lets a function create an entry under a temporary name, and moves it to the path.
func (f *FS) replace(p string, directory bool, create func(d Dir, next, name string) error) error {
	return f.inside(p, func(d Dir, name string) error {
		next, err := free(d, name)
		if err == nil {
			err = create(d, next, name)
		}
		if err == nil {
			err = move(d, next, name, directory)
		}
		if err != nil {
			return errors.Join(err, discard(d, next))
		}
		return d.Sync()
	})
}

// move first removes an entry that the kernel would not replace, because only one of both is a directory.
func move(d Dir, next, name string, directory bool) error {
	old, err := d.Stat(name)
	if err == nil && (old.Type == Directory || directory) {
		err = d.Remove(name, old.Type == Directory)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return d.Rename(next, name)
}
