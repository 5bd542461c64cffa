// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const maxState = 128 << 10

// Outcome is the result of an order.
type Outcome string

// The outcomes. An order in progress has none.
const (
	Done     Outcome = "Done"
	Reverted Outcome = "Reverted"
	Failed   Outcome = "Failed"
)

// State is what the agent knows about its order.
type State struct {
	Order   machineorder.Order `json:"order"`
	Outcome Outcome            `json:"outcome,omitempty"`
	// Message says why the change was confirmed or reverted.
	Message string `json:"message,omitempty"`
	// RevertedTo is the configuration that the host has after a revert.
	RevertedTo string `json:"revertedTo,omitempty"`
	// BootID is the boot in which the order was completed.
	BootID string `json:"bootID,omitempty"`
}

// IsAbout reports whether the state is about the change of an order. The policy and the peers may differ.
func (s State) IsAbout(o *machineorder.Order) bool {
	return o != nil && s.Order.Config == o.Config && s.Order.Digest == o.Digest
}

// Settles reports whether the state has the result of an order.
func (s State) Settles(o *machineorder.Order) bool { return s.Outcome != "" && s.IsAbout(o) }

// Store holds the state in the agent's directory on the host.
type Store struct {
	fs   *hostfs.FS
	file string
}

// NewStore returns the store in a directory.
func NewStore(fs *hostfs.FS, dir string) *Store { return &Store{fs, path.Join(dir, "journal")} }

// Load returns the state; an empty one if there is none yet.
func (s *Store) Load() (State, error) {
	content, _, err := s.fs.ReadFile(s.file, maxState)
	if errors.Is(err, unix.ENOENT) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	return Parse(content)
}

// Save writes the state to disk.
func (s *Store) Save(state State) error {
	content, err := json.Marshal(state)
	if err != nil {
		return err
	}
	if err := s.fs.MakeAll(path.Dir(s.file)); err != nil {
		return err
	}
	return s.fs.WriteFile(s.file, content, hostfs.Entry{Type: hostfs.File, Mode: 0o600})
}

// Parse parses the content of the journal's file.
func Parse(content []byte) (State, error) {
	var s State
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return State{}, fmt.Errorf("this version cannot read the journal: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return State{}, errors.New("there is text after the journal")
	}
	if !slices.Contains([]Outcome{"", Done, Reverted, Failed}, s.Outcome) {
		return State{}, fmt.Errorf("the journal has the unknown outcome %q", s.Outcome)
	}
	return s, s.Order.Check()
}
