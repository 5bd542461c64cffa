// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package program finds executables on the host, and defines the shell and the default PATH. It does not start
// programs.
package program

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// Shell is the shell that runs commands given as text.
	Shell = "/bin/sh"
	// Path is the PATH for commands that set none.
	Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// Find searches for an executable in the same way as a shell, with the current privileges of this process.
func Find(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	failure := fs.ErrNotExist
	for _, dir := range filepath.SplitList(path) {
		candidate := filepath.Join(dir, name)
		if dir == "" {
			candidate = "./" + name
		}
		err := executable(candidate)
		if err == nil {
			return candidate, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			failure = err
		}
	}
	return "", failure
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return unix.EISDIR
	}
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS)
}
