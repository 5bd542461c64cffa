// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

const (
	permissions = 0o7777
	private     = 0o600
	privateDir  = 0o700
)

// dir is a directory of this machine.
type dir struct {
	fd   int
	root *Root
}

func (d *dir) Close() error { return unix.Close(d.fd) }

func (d *dir) Stat(name string) (Info, error) {
	var s unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, err
	}
	info := infoOf(&s)
	info.Label = labelOf(unix.Lgetxattr, d.path(name))
	if info.Type != Link {
		return info, nil
	}
	target, err := d.readlink(name)
	info.Mode, info.Target = 0, target
	return info, err
}

func infoOf(s *unix.Stat_t) Info {
	entry := Entry{Type: typeOf(s.Mode), Mode: s.Mode & permissions, UID: int(s.Uid), GID: int(s.Gid)}
	return Info{Entry: entry, ID: [2]uint64{s.Dev, s.Ino}, Size: s.Size}
}

func typeOf(mode uint32) Type {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return File
	case unix.S_IFDIR:
		return Directory
	case unix.S_IFLNK:
		return Link
	}
	return Other
}

func (d *dir) readlink(name string) (string, error) {
	buffer := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(d.fd, name, buffer)
	return string(buffer[:max(0, n)]), err
}

// Names opens the directory again, because reading moves the position of a descriptor.
func (d *dir) Names() ([]string, error) {
	fd, err := openat2(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "directory")
	defer file.Close()
	return file.Readdirnames(-1)
}

// Open opens only regular files. Without O_NONBLOCK, a named pipe would block the agent.
func (d *dir) Open(name string) (io.ReadCloser, Info, error) {
	fd, err := openat2(d.fd, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, Info{}, err
	}
	var s unix.Stat_t
	if err = unix.Fstat(fd, &s); err == nil && typeOf(s.Mode) != File {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, Info{}, err
	}
	info := infoOf(&s)
	info.Label = labelOf(unix.Getxattr, fdPath(fd))
	return os.NewFile(uintptr(fd), name), info, nil
}

func (d *dir) Sync() error { return unix.Fsync(d.fd) }

func (d *dir) SyncAll() error { return unix.Syncfs(d.fd) }

// Link refuses links on the way to the file, as OpenDir does.
func (d *dir) Link(file, name string) error {
	from, err := d.root.OpenDir(path.Dir(file))
	if err != nil {
		return err
	}
	defer from.Close()
	return unix.Linkat(from.(*dir).fd, path.Base(file), d.fd, name, 0)
}
