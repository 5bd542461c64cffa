// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package ledger

import (
	"errors"
	"path"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

// private is the mode of every file of the store, because originals and hashes of passwords are secret.
const private = 0o600

// Store holds a ledger and copies of original files in a directory of the host.
type Store struct {
	fs  *hostfs.FS
	dir string
}

// NewStore returns the store in a directory, which the first Save creates.
func NewStore(fs *hostfs.FS, dir string) *Store { return &Store{fs, dir} }

// Load returns the ledger; an empty one if there is none yet.
func (s *Store) Load() (Ledger, error) {
	content, _, err := s.fs.ReadFile(s.file(), MaxSize)
	if errors.Is(err, unix.ENOENT) {
		return Ledger{Records: map[Key]Record{}}, nil
	}
	if err != nil {
		return Ledger{}, err
	}
	return Parse(content)
}

// Save replaces the ledger. When it returns without an error, the ledger is on disk.
func (s *Store) Save(l Ledger) error {
	content, err := Encode(l)
	if err != nil {
		return err
	}
	return s.write(s.file(), content)
}

// Files are the names in the directory of a store.
var Files = []string{"ledger", "originals"}

func (s *Store) file() string { return path.Join(s.dir, Files[0]) }

func (s *Store) write(p string, content []byte) error {
	if err := s.fs.MakeAll(path.Dir(p)); err != nil {
		return err
	}
	return s.fs.WriteFile(p, content, hostfs.Entry{Type: hostfs.File, Mode: private})
}

// Settle completes writes of an earlier process that crashed.
func (s *Store) Settle() error {
	for p := s.file(); p != "/"; p = path.Dir(p) {
		if err := s.fs.Settle(p); err != nil {
			return err
		}
	}
	return s.fs.Settle(s.copies())
}
