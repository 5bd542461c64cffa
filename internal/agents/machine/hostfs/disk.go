// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostfs

import "io"

// Disk is what the package needs of a file system. No call follows a link. Errors are those of the kernel, such as
// unix.ENOENT.
type Disk interface {
	// OpenDir opens a directory by its absolute path, which must not contain a link.
	OpenDir(path string) (Dir, error)
}

// Dir is an open directory. Names are single names in it.
type Dir interface {
	io.Closer
	Stat(name string) (Info, error)
	Names() ([]string, error)
	// Open opens a file for reading. The Info belongs to what was opened, also if another process replaces the name.
	Open(name string) (io.ReadCloser, Info, error)
	// Writable returns an error if the entry cannot be replaced, because the file system is read-only or the entry or
	// the directory is immutable.
	Writable(name string) error

	// Create creates a file that only its owner can read. It fails if the name exists.
	Create(name string) (Handle, error)
	// Handle opens an existing file, directory or link to change its attributes.
	Handle(name string) (Handle, error)
	// Mkdir creates a directory that only its owner can enter.
	Mkdir(name string) error
	Symlink(target, name string) error
	// Link gives the file at an absolute path a second name.
	Link(path, name string) error
	// Rename replaces what is at the new name, unless only one of both is a directory.
	Rename(name, to string) error
	// Remove removes a file, a link or an empty directory.
	Remove(name string, directory bool) error
	// Sync writes the names of the directory to disk.
	Sync() error
	// SyncAll writes the whole file system of the directory to disk.
	SyncAll() error
}

// Handle is an open entry. Its calls change this entry, also if another process replaces the name.
type Handle interface {
	io.WriteCloser
	Chown(uid, gid int) error
	Chmod(mode uint32) error
	SetLabel(label string) error
	// Sync writes the content and the attributes to disk.
	Sync() error
}

// Info is what the disk shows about a name without reading its content.
type Info struct {
	Entry
	// ID is equal for two names of the same file.
	ID   [2]uint64
	Size int64
}
