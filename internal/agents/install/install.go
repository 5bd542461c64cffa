// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package install copies this program (the agent) into a volume, for containers whose image does not contain it. It
// runs in an init container with the agent's image.
package install

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

const (
	mode      fs.FileMode = 0o755 // other containers may run as another user
	chunkSize             = 64 << 10
)

// Options holds the settings from the command line.
type Options struct {
	// To is the path to which this program is copied.
	To string
}

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	var o Options
	if err := flags.Parse("install", args, out, o.bind); err != nil {
		return o, err
	}
	if !filepath.IsAbs(o.To) {
		return o, errors.New("--to must be the absolute path of the file to which this program is copied")
	}
	return o, nil
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar(&o.To, "to", "", "`file` to which this program is copied")
}

// Run copies the running program, unless the file already has the same content. It replaces the file, so that processes
// which run the old file are not affected.
func Run(o Options) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if err := put(self, o.To); err != nil {
		return fmt.Errorf("copy this program to %s: %w", o.To, err)
	}
	return nil
}

func put(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if same(source, to) {
		return nil
	}
	if _, err := source.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return durable.Replace(to, source, mode)
}

// same reports whether the file at path has this content and is executable. It returns false for an unreadable file, so
// that the file is replaced.
func same(content io.Reader, path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != mode {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return equal(content, file)
}

func equal(a, b io.Reader) bool {
	one, other := make([]byte, chunkSize), make([]byte, chunkSize)
	for {
		n, errA := io.ReadFull(a, one)
		m, errB := io.ReadFull(b, other)
		switch {
		case !bytes.Equal(one[:n], other[:m]):
			return false
		case errA != nil || errB != nil:
			return ended(errA) && ended(errB)
		}
	}
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
