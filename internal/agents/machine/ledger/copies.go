// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package ledger

import (
	"fmt"
	"path"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

// MaxCopy is the maximum size in bytes of an original file that the store copies.
const MaxCopy = hostfs.MaxHash

func (s *Store) copies() string { return path.Join(s.dir, "originals") }

func (s *Store) copy(hash string) string { return path.Join(s.copies(), hash) }

// Keep copies a content. Original returns it by its hash.
func (s *Store) Keep(content []byte) error {
	hash := hostfs.Hash(content)
	found, err := s.fs.Read(s.copy(hash))
	switch {
	case err != nil:
		return err
	case found.Hash == hash: // an earlier process may have crashed before it synced the copy
		return s.fs.Settle(s.copy(hash))
	}
	return s.write(s.copy(hash), content)
}

// Original returns the content with a hash that Keep copied.
func (s *Store) Original(hash string) ([]byte, error) {
	content, found, err := s.fs.ReadFile(s.copy(hash), MaxCopy)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the copy of the original file cannot be read: %w", err)
	case found.Hash != hash:
		return nil, fmt.Errorf("the copy of the original file in %s is damaged", s.copy(hash))
	}
	return content, nil
}

// Collect removes copies that the ledger does not need. The ledger must have been saved before.
func (s *Store) Collect(l Ledger) error {
	needed := map[string]bool{}
	for _, r := range l.Records {
		needed[r.Before.Hash] = true
	}
	names, err := s.fs.Names(s.copies())
	for _, name := range names {
		if !needed[name] && err == nil {
			err = s.fs.Remove(s.copy(name))
		}
	}
	return err
}
