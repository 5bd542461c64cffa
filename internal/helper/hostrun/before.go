// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// before is what an earlier beginning of this run has come to, or nil if there was none. A
// kubelet may start a container a second time: after a crash of its own, or of the host.
func (h *host) before() *Result {
	found, err := h.ledger.find(key(h.Order))
	switch {
	case err != nil:
		return unknown(ReasonNoResult, "the marker of this run cannot be read, so it may have been begun: %v", err)
	case found == nil:
		return nil
	}
	text, err := h.ledger.result(key(h.Order))
	if errors.Is(err, fs.ErrNotExist) {
		return h.without(found)
	}
	if err != nil {
		return unknown(ReasonNoResult, "the result of this run is on the host and cannot be read: %v", err)
	}
	r, err := ParseResult(string(text))
	if err != nil {
		return unknown(ReasonNoResult, "the result of this run is on the host and is damaged: %v", err)
	}
	r.Again = true
	return &r
}

// without tells what is known of a run that left no result.
func (h *host) without(m *marker) *Result {
	since := "before"
	if !m.Started.IsZero() {
		since = "at " + m.Started.UTC().Format(time.RFC3339)
	}
	return unknown(ReasonNoResult, "run %d was begun %s and left no result; %s: whether the command ran, and how far, cannot be known. It is not run again",
		h.Order.Run, since, h.rebooted(m))
}

func (h *host) rebooted(m *marker) string {
	switch {
	case m.BootID == "" || h.boot == "":
		return "whether the host was rebooted since is not known"
	case m.BootID != h.boot:
		return "the host was rebooted since"
	}
	return fmt.Sprintf("the host was not rebooted since (boot %s)", h.boot)
}
