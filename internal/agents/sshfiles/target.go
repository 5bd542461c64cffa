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

// mode returns the mode of a file with the given name. Only files that are known to be public are readable for all
// users.
func mode(name string) fs.FileMode {
	if strings.HasSuffix(name, ".pub") || name == "authorized_keys" || name == "known_hosts" {
		return publicMode
	}
	return privateMode
}

// open creates a directory that only its owner can write to, because sshd refuses other directories.
func open(dir string) error {
	if err := os.MkdirAll(dir, directoryMode); err != nil {
		return err
	}
	return os.Chmod(dir, directoryMode) // the mode must not depend on the umask or the group of the volume
}

// replace writes a file atomically, so that a login reads either the old or the new file.
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

// overwrite changes a file in place, because a file that is mounted separately cannot be replaced. It writes the whole
// content with one call, and then cuts off what is left of the old content. If the old and the new key have the same
// length, as keys of one type do, a concurrent reader gets one of the two.
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
		return fmt.Errorf("%d of %d bytes were written: %w", n, len(content), err)
	}
	return nil
}

func same(path string, content []byte) bool {
	there, err := os.ReadFile(path)
	return err == nil && bytes.Equal(there, content)
}
