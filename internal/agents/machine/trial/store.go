// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package trial

import (
	"errors"
	"fmt"
	"path"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Store holds the state of a trial, and both configurations, in the agent's directory on the host.
type Store struct {
	fs  *hostfs.FS
	dir string
}

// NewStore returns the store in a directory.
func NewStore(fs *hostfs.FS, dir string) *Store { return &Store{fs, dir} }

// Load returns the state; false if there is no trial.
func (s *Store) Load() (State, bool, error) {
	content, _, err := s.fs.ReadFile(s.file("trial"), maxState)
	if errors.Is(err, unix.ENOENT) {
		return State{}, false, nil
	}
	if err != nil {
		return State{}, false, err
	}
	state, err := Parse(content)
	return state, err == nil, err
}

// Save writes the state to disk.
func (s *Store) Save(state State) error {
	content, err := Encode(state)
	if err != nil {
		return err
	}
	return s.write("trial", content)
}

// Clear ends the trial.
func (s *Store) Clear() error { return s.fs.Remove(s.file("trial")) }

// Keep stores a configuration, as the operator delivered it. Save the state after its configurations.
func (s *Store) Keep(name string, encoded []byte) error { return s.write(configFile(name), encoded) }

// Encoded returns a configuration as Keep stored it; nil if it is not stored.
func (s *Store) Encoded(name string) ([]byte, error) {
	encoded, _, err := s.fs.ReadFile(s.file(configFile(name)), hostconfig.MaxEncoded)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	return encoded, err
}

// Config returns a configuration that Keep stored.
func (s *Store) Config(name string) (hostconfig.Config, error) {
	encoded, err := s.Encoded(name)
	if err == nil && encoded == nil {
		err = fmt.Errorf("the configuration %s is not on the host", name)
	}
	if err != nil {
		return hostconfig.Config{}, err
	}
	return hostconfig.Parse(encoded)
}

// Collect removes all configurations except those with these names.
func (s *Store) Collect(names ...string) error {
	needed := map[string]bool{}
	for _, name := range names {
		needed[path.Base(configFile(name))] = true
	}
	files, err := s.fs.Names(s.file("configs"))
	for _, name := range files {
		if !needed[name] && err == nil {
			err = s.fs.Remove(s.file(path.Join("configs", name)))
		}
	}
	return err
}

// configFile is named by a hash, so that no name of a configuration can leave the directory.
func configFile(name string) string { return path.Join("configs", hostfs.Hash([]byte(name))) }

func (s *Store) file(name string) string { return path.Join(s.dir, name) }

func (s *Store) write(name string, content []byte) error {
	if err := s.fs.MakeAll(path.Dir(s.file(name))); err != nil {
		return err
	}
	return s.fs.WriteFile(s.file(name), content, hostfs.Entry{Type: hostfs.File, Mode: 0o600})
}
