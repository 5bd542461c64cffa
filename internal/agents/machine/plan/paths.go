// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

func (t *translator) addPaths() {
	for _, d := range t.config.Directories {
		t.addDirectory(d)
	}
	for _, f := range t.config.Files {
		t.addFile(f)
	}
	for _, l := range t.config.Links {
		t.addLink(l)
	}
}

// addDirectory keeps what is not declared of an existing directory.
func (t *translator) addDirectory(d hostconfig.Directory) {
	state, original := directory(defaultDirectory, 0, 0), t.original(path(d.Path))
	if original.Type == hostfs.Directory {
		state.Mode, state.UID, state.GID = original.Mode, original.UID, original.GID
	}
	setMode(&state, d.Mode)
	t.setOwner(&state, d.Entry)
	t.add(Item{Key: path(d.Path), State: state, Overwrite: d.Overwrite})
}

// addFile keeps what is not declared of an existing file whose content is kept.
func (t *translator) addFile(f hostconfig.File) {
	key, state := path(f.Path), ledger.State{Entry: hostfs.Entry{Type: hostfs.File, Mode: defaultFile}}
	original := t.original(key)
	item := Item{Key: key, Overwrite: f.Overwrite}
	switch {
	case f.Contents == nil && original.Type == hostfs.File:
		state.Entry = original.Entry
		state.Label = ""
		item.Kept = len(f.Append) == 0
		if !t.hasChanged(key) {
			state.Hash = ""
		}
		if len(f.Append) > 0 {
			item.Content = slices.Concat(append([][]byte{t.facts.Originals[f.Path]}, f.Append...)...)
		}
	case f.Contents == nil:
		item.Content = slices.Concat(append([][]byte{{}}, f.Append...)...)
	default:
		item.Content = slices.Concat(append([][]byte{*f.Contents}, f.Append...)...)
	}
	if item.Content != nil || f.Contents != nil || original.Type != hostfs.File {
		item.Content = append([]byte{}, item.Content...)
		state.Hash = hostfs.Hash(item.Content)
	}
	setMode(&state, f.Mode)
	t.setOwner(&state, f.Entry)
	item.State = state
	t.add(item)
}

func (t *translator) addLink(l hostconfig.Link) {
	state := ledger.State{Entry: hostfs.Entry{Type: hostfs.Link, Target: l.Target}}
	if l.Hard {
		state.Type = ledger.HardLink // the owner is that of the file
	} else {
		t.setOwner(&state, l.Entry)
	}
	t.add(Item{Key: path(l.Path), State: state, Overwrite: l.Overwrite})
}

func setMode(s *ledger.State, mode *uint32) {
	if mode != nil {
		s.Mode = *mode
	}
}

// setOwner sets what is declared of the owner.
func (t *translator) setOwner(s *ledger.State, e hostconfig.Entry) {
	if e.User.ID != nil {
		s.UID = *e.User.ID
	}
	if e.Group.ID != nil {
		s.GID = *e.Group.ID
	}
	if name := e.User.Name; name != "" {
		user, found := t.facts.Accounts.Users[name]
		s.UID = user.UID
		t.require(path(e.Path), found, "%s: the host has no user %s: create the user first, or declare an id", e.Path, name)
	}
	if name := e.Group.Name; name != "" {
		gid, found := t.facts.Accounts.Groups[name]
		s.GID = gid
		t.require(path(e.Path), found, "%s: the host has no group %s: create the group first, or declare an id", e.Path, name)
	}
}
