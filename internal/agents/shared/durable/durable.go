// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package durable replaces files safely. After a crash of the process or the machine, either the old file or the
// complete new file exists.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file at path. When it returns without an error, the file and its name are on disk. Each path must
// have only one writer.
func Replace(path string, content io.Reader, mode fs.FileMode) error {
	next := Next(path)
	// Remove a temporary file that a crash has left. Then write always creates a new file, and neither appends to an
	// old file nor follows a symlink.
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := write(next, content, mode)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		os.Remove(next)
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Next returns the path of the temporary file for path. A crash may leave this file behind.
func Next(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".next")
}

func write(path string, content io.Reader, mode fs.FileMode) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := io.Copy(file, content); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil { // the mode must not depend on the umask
		return err
	}
	return file.Sync()
}

// SyncDir syncs the names in a directory to disk.
func SyncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}
