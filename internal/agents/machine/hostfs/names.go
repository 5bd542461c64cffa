// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

func (d *dir) Mkdir(name string) error { return unix.Mkdirat(d.fd, name, privateDir) }

func (d *dir) Symlink(target, name string) error { return unix.Symlinkat(target, d.fd, name) }

func (d *dir) Rename(name, to string) error { return unix.Renameat(d.fd, name, d.fd, to) }

func (d *dir) Remove(name string, directory bool) error {
	flags := 0
	if directory {
		flags = unix.AT_REMOVEDIR
	}
	return unix.Unlinkat(d.fd, name, flags)
}

// path returns a path to a name for calls that take no directory. It cannot leave the directory, because these calls
// do not follow the last name.
func (d *dir) path(name string) string { return fdPath(d.fd) + "/" + name }

// Writable examines the attributes of the file system, the directory and the entry. Root passes all other checks.
func (d *dir) Writable(name string) error {
	var s unix.Statfs_t
	if err := unix.Fstatfs(d.fd, &s); err != nil {
		return err
	}
	if s.Flags&unix.ST_RDONLY != 0 {
		return errors.New("the file system is read-only")
	}
	if err := d.changeable(".", "its directory"); err != nil {
		return err
	}
	if err := d.changeable(name, "it"); !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

// changeable returns an error if an attribute of the entry forbids all changes, even to root.
func (d *dir) changeable(name, who string) error {
	var s unix.Statx_t
	if err := unix.Statx(d.fd, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE, &s); err != nil {
		return err
	}
	if s.Attributes&(unix.STATX_ATTR_IMMUTABLE|unix.STATX_ATTR_APPEND) != 0 {
		return fmt.Errorf("%s has the attribute immutable or append-only (see lsattr): remove it with chattr", who)
	}
	if s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 && typeOf(uint32(s.Mode)) != Directory {
		return fmt.Errorf("%s is a mount point: unmount it, or declare another path", who)
	}
	return nil
}
