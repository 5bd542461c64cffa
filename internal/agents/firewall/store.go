// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
)

// Store keeps the state in a directory on the host.
type Store struct{ dir string }

// NewStore returns the store in a directory.
func NewStore(dir string) *Store { return &Store{dir} }

func (s *Store) file() string { return filepath.Join(s.dir, "state.json") }

// Load returns the state. A file that cannot be parsed counts as none: the rules come again from the operator.
func (s *Store) Load() (State, error) {
	content, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("read the state of the firewall: %w", err)
	}
	var out State
	if err := json.Unmarshal(content, &out); err != nil {
		return State{}, nil //nolint:nilerr // see above
	}
	return out, nil
}

// Save writes the state to disk. Without rules, no file stays.
func (s *Store) Save(state State) error {
	if state.Confirmed.empty() && state.Trial == nil && state.Failure == nil {
		return s.clear()
	}
	content, err := json.Marshal(state)
	if err == nil {
		err = durable.Replace(s.file(), bytes.NewReader(content), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the state of the firewall: %w", err)
	}
	return nil
}

func (s *Store) clear() error {
	for _, path := range []string{s.file(), durable.Next(s.file())} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the state of the firewall: %w", err)
		}
	}
	return nil
}
