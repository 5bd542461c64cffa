// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sysctl

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxValue is the maximum size of a value in bytes. The kernel allows one page.
const maxValue = 64 << 10

// Kernel holds the parameters. Names are paths below /proc/sys.
type Kernel interface {
	// Get returns a value in the form of Normal; false if the kernel lacks the parameter.
	Get(name string) (string, bool, error)
	Set(name, value string) error
}

// Proc is the kernel of this machine. Each call opens the directory, so that it uses the namespaces of its thread.
type Proc struct{}

const directory = "/proc/sys"

// Get reads a parameter.
func (Proc) Get(name string) (string, bool, error) {
	file, err := open(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	value, err := io.ReadAll(io.LimitReader(file, maxValue))
	return Normal(string(value)), true, err
}

// Set writes a parameter with one system call, because the kernel treats each call as a whole value.
func (Proc) Set(name, value string) error {
	file, err := open(name, os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = file.WriteString(value + "\n")
	return errors.Join(err, file.Close())
}

func open(name string, flag int) (*os.File, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	file, err := root.OpenFile(name, flag, 0)
	return file, errors.Join(err, root.Close())
}
