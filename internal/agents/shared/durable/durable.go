// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package durable puts files in place so that a crash of the process or of the machine, at
// whatever moment, leaves either what was there before or the whole of what is new.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace puts a file at path. Once it returns without an error, the file and its name are on
// the disk. There is one writer a path.
func Replace(path string, content io.Reader, mode fs.FileMode) error {
	next := Next(path)
	// What a crash left is no file of ours to append to, nor is a symlink one to follow.
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

// Next is the file that becomes the one at path when it is whole. A crash may leave it.
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
	if err := file.Chmod(mode); err != nil { // whatever the umask
		return err
	}
	return file.Sync()
}

// SyncDir has the names in a directory on the disk.
func SyncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}
