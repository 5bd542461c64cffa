// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"errors"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/plan"
)

// setPath changes an entry, unless another program changed it since it was observed.
func (h *Host) setPath(s plan.Step) (kept bool, err error) {
	target := ""
	if s.From.Type == ledger.HardLink {
		target = s.From.Target
	}
	found, err := h.pathState(s.Name, target)
	if err != nil {
		return false, err
	}
	// The file of a hard link may have been replaced by an earlier step.
	if !ledger.Same(ledger.Path, found, s.From) && s.From.Type != ledger.HardLink {
		return false, errChanged
	}
	if s.To.Type == hostfs.Absent {
		err := h.FS.Remove(s.Name)
		if hostfs.IsInUse(err) {
			return true, nil
		}
		return false, err
	}
	return false, h.write(s, found)
}

func (h *Host) write(s plan.Step, found ledger.State) error {
	to := s.To.Entry
	switch to.Type {
	case hostfs.Directory:
		if found.Type == hostfs.Directory {
			return h.FS.Change(s.Name, to)
		}
		return h.FS.MakeDirectory(s.Name, to)
	case hostfs.Link:
		return h.FS.WriteLink(s.Name, to)
	case ledger.HardLink:
		return h.FS.WriteHardLink(s.Name, to.Target)
	}
	if found.Type == hostfs.File && (to.Hash == "" || to.Hash == found.Hash) {
		return h.FS.Change(s.Name, to)
	}
	content, err := h.contentOf(s)
	if err != nil {
		return err
	}
	return h.FS.WriteFile(s.Name, content, to)
}

func (h *Host) setPassword(ctx context.Context, s plan.Step) error {
	unlock, err := h.LockUsers(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return h.setPart(s)
}

// setPart replaces a part of a file, and keeps everything else, also the owner and the mode.
func (h *Host) setPart(s plan.Step) error {
	content, entry, err := h.readPart(s.Key)
	if err != nil {
		return err
	}
	old, _, err := getPart(s.Key, string(content))
	if err != nil {
		return err
	}
	if old != s.From.Value {
		return errChanged
	}
	exists := entry.Type != hostfs.Absent
	if !exists {
		entry = s.To.Entry
	}
	switch text := setPart(s.Key, string(content), s.To.Value); {
	case text == "" && s.To.Type == hostfs.Absent:
		return h.FS.Remove(partFile(s.Key))
	case exists && text == string(content):
		return nil
	default:
		return h.FS.WriteFile(partFile(s.Key), []byte(text), entry)
	}
}

// errChanged means that another program changed an entry after it was observed. The next application sees the change.
var errChanged = errors.New("another program changed it a moment ago, so opcrew did not")

// contentOf returns the content that a step writes.
func (h *Host) contentOf(s plan.Step) ([]byte, error) {
	if s.Content == nil && s.To.Hash != hostfs.Hash(nil) {
		return h.Store.Original(s.To.Hash)
	}
	return s.Content, nil
}
