// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/agents/machine/users"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// States returns the state on the host of each record of a ledger. A key whose state could not be observed has an error
// instead: a zero state would look like one that another program left.
func (h *Host) States(ctx context.Context, l ledger.Ledger) (map[ledger.Key]ledger.State, map[ledger.Key]error) {
	out, unreadable := map[ledger.Key]ledger.State{}, map[ledger.Key]error{}
	targets := hardTargets(hostconfig.Config{}, l)
	for key := range l.Records {
		state, err := h.state(ctx, key, targets[key])
		if err != nil {
			unreadable[key] = err
			continue
		}
		out[key] = state
	}
	return out, unreadable
}

// hardTargets returns the file of each path that is, or will be, a hard link.
func hardTargets(c hostconfig.Config, l ledger.Ledger) map[ledger.Key]string {
	out := map[ledger.Key]string{}
	for key, r := range l.Records {
		for _, s := range []ledger.State{r.Before, r.Previous, r.Written} {
			if s.Type == ledger.HardLink {
				out[key] = s.Target
			}
		}
	}
	for _, link := range c.Links {
		if link.Hard {
			out[ledger.Key{Kind: ledger.Path, Name: link.Path}] = link.Target
		}
	}
	return out
}

// state reads the state of one key. The target is the file of which a path may be a hard link.
func (h *Host) state(ctx context.Context, key ledger.Key, target string) (ledger.State, error) {
	switch key.Kind {
	case ledger.Path:
		return h.pathState(key.Name, target)
	case ledger.Unit:
		return h.unitState(ctx, key.Name)
	case ledger.Sysctl:
		return h.sysctlState(key.Name)
	}
	content, entry, err := h.readPart(key)
	if err != nil || entry.Type == hostfs.Absent {
		return ledger.State{Entry: entry}, err
	}
	value, found, err := getPart(key, string(content))
	if !found {
		return ledger.State{Entry: hostfs.Entry{Type: hostfs.Absent}}, err
	}
	entry.Hash, entry.Label = "", "" // they change with other parts of the file
	return ledger.State{Entry: entry, Value: value}, err
}

func (h *Host) pathState(p, target string) (ledger.State, error) {
	entry, err := h.FS.Read(p)
	if err == nil && target != "" && h.FS.SameFile(p, target) {
		entry = hostfs.Entry{Type: ledger.HardLink, Target: target}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", p, err)
	}
	return ledger.State{Entry: entry}, err
}

// unitState keeps systemctl's word in Target, for messages. It is not compared.
func (h *Host) unitState(ctx context.Context, unit string) (ledger.State, error) {
	word, err := h.Units.Enablement(ctx, unit)
	state := ledger.State{Entry: hostfs.Entry{Target: word}, Value: units.Disabled}
	if word == units.Enabled {
		state.Value = units.Enabled
	}
	return state, err
}

func (h *Host) sysctlState(name string) (ledger.State, error) {
	value, found, err := h.Kernel.Get(name)
	if errors.Is(err, fs.ErrPermission) { // even root may only write it
		return ledger.State{Entry: hostfs.Entry{Type: hostfs.Other}}, nil
	}
	if err != nil {
		return ledger.State{}, fmt.Errorf("read sysctl %s: %w", name, err)
	}
	if !found {
		return ledger.State{Entry: hostfs.Entry{Type: hostfs.Absent}}, nil
	}
	return ledger.State{Value: value}, nil
}

// readPart reads the file that contains a part.
func (h *Host) readPart(key ledger.Key) ([]byte, hostfs.Entry, error) {
	content, entry, err := h.FS.ReadFile(partFile(key), ledger.MaxCopy)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR):
		return nil, hostfs.Entry{Type: hostfs.Absent}, nil
	case errors.Is(err, unix.ELOOP):
		return nil, entry, fmt.Errorf("%s is a link, and opcrew follows no links: replace it by a file", partFile(key))
	case err != nil:
		return nil, entry, fmt.Errorf("read %s: %w", partFile(key), err)
	}
	return content, entry, nil
}

// partFile returns the path of the file that contains a part.
func partFile(key ledger.Key) string {
	if key.Kind == ledger.Password {
		return users.ShadowFile
	}
	return key.Name
}

// getPart returns the value of a part of a file; false if the file cannot have it.
func getPart(key ledger.Key, content string) (string, bool, error) {
	switch key.Kind {
	case ledger.Password:
		hash, found := users.Hash(content, key.Name)
		return hash, found, nil
	case ledger.Boot:
		line, err := bootargs.Line(key.Name, content)
		return line, true, err
	}
	return users.Keys(content), true, nil
}

func setPart(key ledger.Key, content, value string) string {
	switch key.Kind {
	case ledger.Password:
		return users.SetHash(content, key.Name, value)
	case ledger.Boot:
		return bootargs.SetLine(key.Name, content, value)
	}
	return users.SetKeys(content, value)
}
