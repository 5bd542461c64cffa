// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// labelKey is the extended attribute that holds the SELinux context. Tests use another one.
var labelKey = "security.selinux"

// handle is an open entry of this machine.
type handle struct {
	fd    int
	entry Type
	// foreign is why the attributes must not be changed; nil if they may.
	foreign error
}

func (d *dir) Create(name string) (Handle, error) {
	fd, err := openat2(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, private)
	if err != nil {
		return nil, err
	}
	return &handle{fd: fd, entry: File}, nil
}

// Handle opens what is at the name, unless it is a device, a pipe or a socket.
func (d *dir) Handle(name string) (Handle, error) {
	info, err := d.Stat(name)
	if err != nil {
		return nil, err
	}
	fd, err := openat2(d.fd, name, handleFlags(info.Type), 0)
	if err != nil {
		return nil, err
	}
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil || infoOf(&s).ID != info.ID || info.Type == Other {
		_ = unix.Close(fd)
		return nil, errors.Join(err, fmt.Errorf("%s is not a file, directory or link, or was replaced a moment ago", name))
	}
	return &handle{fd: fd, entry: info.Type, foreign: d.foreign(name, &s)}, nil
}

// handleFlags opens nothing but files and directories for real, because to open a device or a pipe can have effects.
func handleFlags(entry Type) uint64 {
	if entry == File || entry == Directory {
		return unix.O_RDONLY | unix.O_NONBLOCK
	}
	return unix.O_PATH
}

// othersWrite are the permissions of the group and of all others to write.
const othersWrite = 0o022

// foreign returns an error if a user could have put the file of another user at the name: then a change of its
// attributes would give that file away.
func (d *dir) foreign(name string, s *unix.Stat_t) error {
	var parent unix.Stat_t
	if err := unix.Fstat(d.fd, &parent); err != nil {
		return err
	}
	isOpen := parent.Uid != 0 || parent.Mode&othersWrite != 0
	if typeOf(s.Mode) != Directory && s.Nlink > 1 && isOpen {
		return fmt.Errorf("%s has other names (hard links), and a user can write to its directory: remove the other names", name)
	}
	return nil
}

func (h *handle) Close() error { return unix.Close(h.fd) }

func (h *handle) Write(content []byte) (int, error) {
	written := 0
	for written < len(content) {
		n, err := unix.Write(h.fd, content[written:])
		if err != nil && !errors.Is(err, unix.EINTR) {
			return written, err
		}
		written += max(0, n)
	}
	return written, nil
}

func (h *handle) Chown(uid, gid int) error {
	if h.foreign != nil {
		return h.foreign
	}
	return unix.Fchownat(h.fd, "", uid, gid, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW)
}

// Chmod does nothing for links, which have no mode.
func (h *handle) Chmod(mode uint32) error {
	if h.entry == Link || h.foreign != nil {
		return h.foreign
	}
	return unix.Fchmod(h.fd, mode)
}

// Sync does nothing for links: the target is written with the names of the directory.
func (h *handle) Sync() error {
	if h.entry == Link {
		return nil
	}
	return unix.Fsync(h.fd)
}

// SetLabel does nothing if the entry has the label already.
func (h *handle) SetLabel(label string) error {
	if label == "" || label == labelOf(unix.Getxattr, fdPath(h.fd)) || h.foreign != nil {
		return h.foreign
	}
	return unix.Setxattr(fdPath(h.fd), labelKey, []byte(label), 0)
}

// labelOf returns an empty text on hosts without SELinux. To read the label of an open file, get must follow the link of
// its descriptor in /proc: the link itself has the label of the process.
func labelOf(get func(path, key string, buffer []byte) (int, error), path string) string {
	buffer := make([]byte, 1024)
	n, err := get(path, labelKey, buffer)
	if err != nil {
		return ""
	}
	return string(buffer[:n])
}

func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
