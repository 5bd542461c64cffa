// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// beneath keeps every path below the root, and refuses links on the way.
const beneath = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// maxRaces limits how often a call is repeated while another process renames directories on the path.
const maxRaces = 100

// Root is the Disk below a directory of this machine.
type Root struct{ fd int }

// OpenRoot opens the root directory of a host.
func OpenRoot(path string) (*Root, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &Root{fd}, nil
}

// Close closes the root directory.
func (r *Root) Close() error { return unix.Close(r.fd) }

// OpenDir opens a directory by its absolute path below the root.
func (r *Root) OpenDir(path string) (Dir, error) {
	fd, err := openat2(r.fd, relative(path), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &dir{fd: fd, root: r}, nil
}

func relative(path string) string {
	if path = strings.TrimLeft(path, "/"); path != "" {
		return path
	}
	return "."
}

func openat2(at int, path string, flags, mode uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC | unix.O_NOFOLLOW, Mode: mode, Resolve: beneath}
	for range maxRaces {
		fd, err := unix.Openat2(at, path, &how)
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
	return -1, unix.EAGAIN
}
