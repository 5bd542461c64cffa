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
	"strings"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
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

func (s *Store) clear() error { return remove(s.file(), durable.Next(s.file())) }

func remove(paths ...string) error {
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the state of the firewall: %w", err)
		}
	}
	return nil
}

func (s *Store) order() string  { return filepath.Join(s.dir, nodefirewall.OrderFile) }
func (s *Store) result() string { return filepath.Join(s.dir, nodefirewall.ResultFile) }

// Order returns the text of the order for the host's firewall; "" if there is none.
func (s *Store) Order() (string, error) {
	content, err := os.ReadFile(s.order())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the order for the host's firewall: %w", err)
	}
	return string(content), nil
}

// SaveOrder writes an order to disk.
func (s *Store) SaveOrder(text string) error {
	if err := durable.Replace(s.order(), strings.NewReader(text), 0o600); err != nil {
		return fmt.Errorf("write the order for the host's firewall: %w", err)
	}
	return nil
}

// RemoveOrder removes the order and its result. The order goes last, because it says that there may be rules.
func (s *Store) RemoveOrder() error {
	return remove(s.result(), durable.Next(s.result()), durable.Next(s.order()), s.order())
}

// Result returns the answer to an order. One that cannot be read counts as none.
func (s *Store) Result() nodefirewall.HostResult {
	content, _ := os.ReadFile(s.result())
	result, err := nodefirewall.ParseResult(string(content))
	if err != nil {
		return nodefirewall.HostResult{}
	}
	return result
}
