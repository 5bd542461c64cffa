// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package disktest

import (
	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

type handle struct {
	disk *Disk
	at   *node
}

func (h *handle) Close() error { return nil }

// alter makes one change of the attributes.
func (h *handle) alter(f func(a *attributes)) error {
	if err := h.disk.Call(); err != nil {
		return err
	}
	if h.at.live.fixed {
		return unix.EPERM
	}
	h.disk.record(change{node: h.at, alter: f})
	return nil
}

// Write is two changes, so that a power loss can leave half of the content.
func (h *handle) Write(content []byte) (int, error) {
	if err := h.disk.Call(); err != nil {
		return 0, err
	}
	for _, part := range []string{string(content[:len(content)/2]), string(content[len(content)/2:])} {
		h.disk.record(change{node: h.at, alter: func(a *attributes) { a.content += part }})
	}
	return len(content), nil
}

func (h *handle) Chown(uid, gid int) error {
	return h.alter(func(a *attributes) { a.UID, a.GID = uid, gid })
}

func (h *handle) Chmod(mode uint32) error {
	if h.at.live.Type == hostfs.Link {
		return nil
	}
	return h.alter(func(a *attributes) { a.Mode = mode })
}

func (h *handle) SetLabel(label string) error {
	if label == "" || label == h.at.live.Label {
		return nil
	}
	return h.alter(func(a *attributes) { a.Label = label })
}

func (h *handle) Sync() error {
	err := h.disk.call(true)
	if err == nil {
		h.disk.sync(h.at)
	}
	return err
}
