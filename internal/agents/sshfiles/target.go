// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshfiles

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	directoryMode fs.FileMode = 0o755
	publicMode    fs.FileMode = 0o644
	privateMode   fs.FileMode = 0o600
)

// mode is that of a file by its name: what is not known to be public is private.
func mode(name string) fs.FileMode {
	if strings.HasSuffix(name, ".pub") || name == "authorized_keys" || name == "known_hosts" {
		return publicMode
	}
	return privateMode
}

// open makes a directory that sshd trusts: only its owner can write to it.
func open(dir string) error {
	if err := os.MkdirAll(dir, directoryMode); err != nil {
		return err
	}
	return os.Chmod(dir, directoryMode) // whatever the umask, and the group of the volume
}

// replace puts a file in place as one step: a login that reads it meanwhile has the old
// one or the new one.
func replace(dir, name string, content []byte) error {
	path := filepath.Join(dir, name)
	if same(path, content) {
		return os.Chmod(path, mode(name))
	}
	next := filepath.Join(dir, "."+name+".next")
	if err := os.Remove(next); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := write(next, content, mode(name), os.O_CREATE|os.O_EXCL); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// overwrite changes a file where it is, which is all that reaches one that is mounted by
// itself. The content goes in by one call before the rest is cut off, so that who reads it
// at that very moment has, of two keys of the same kind, one or the other.
func overwrite(dir, name string, content []byte) error {
	path := filepath.Join(dir, name)
	if same(path, content) {
		return os.Chmod(path, mode(name))
	}
	if err := write(path, content, mode(name), os.O_CREATE); err != nil {
		return err
	}
	return os.Truncate(path, int64(len(content)))
}

func write(path string, content []byte, mode fs.FileMode, flags int) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|flags, mode)
	if err != nil {
		return err
	}
	defer func() {
		if closing := file.Close(); err == nil {
			err = closing
		}
	}()
	if err := file.Chmod(mode); err != nil {
		return err
	}
	if n, err := file.WriteAt(content, 0); err != nil {
		return fmt.Errorf("%d of %d bytes: %w", n, len(content), err)
	}
	return nil
}

func same(path string, content []byte) bool {
	there, err := os.ReadFile(path)
	return err == nil && bytes.Equal(there, content)
}
