// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// before is what an earlier beginning of this run has come to, or nil if there was none. A
// kubelet may start a container a second time: after a crash of its own, or of the host.
func (h *host) before() *hostjob.Result {
	found, err := h.ledger.find(key(h.Order))
	switch {
	case err != nil:
		return unknown(hostjob.ReasonNoResult, "the marker of this run cannot be read, so it may have been begun: %v", err)
	case found == nil:
		return nil
	}
	text, err := h.ledger.result(key(h.Order))
	if errors.Is(err, fs.ErrNotExist) {
		return h.without(found)
	}
	if err != nil {
		return unknown(hostjob.ReasonNoResult, "the result of this run is on the host and cannot be read: %v", err)
	}
	r, err := hostjob.ParseResult(string(text))
	if err != nil {
		return unknown(hostjob.ReasonNoResult, "the result of this run is on the host and is damaged: %v", err)
	}
	r.Again = true
	return &r
}

// forgotten says why a run that is not remembered may have been begun all the same: a host
// that was set up again under its name is given its pods again, and has no markers. Only a
// late beginning on a host that was restarted and remembers nothing at all is refused: clocks
// differ, hosts restart before they begin, and each has a first run.
func (h *host) forgotten() *hostjob.Result {
	o := h.Order
	inTime := o.BeginBefore.IsZero() || time.Now().Before(o.BeginBefore)
	if inTime || o.BootID == "" || h.boot == "" || h.boot == o.BootID {
		return nil
	}
	if empty, err := h.ledger.empty(); err == nil && !empty {
		return nil
	}
	return unknown(hostjob.ReasonNoResult, "run %d was to begin before %s, and the host was restarted since and remembers no run at all, as one that was set up anew: "+
		"whether the command ran before cannot be known. It is not begun now", o.Run, o.BeginBefore.UTC().Format(time.RFC3339))
}

// without says what is known of a run that left no result.
func (h *host) without(m *marker) *hostjob.Result {
	since := "before"
	if !m.Started.IsZero() {
		since = "at " + m.Started.UTC().Format(time.RFC3339)
	}
	return unknown(hostjob.ReasonNoResult, "run %d was begun %s and left no result; %s: whether the command ran, and how far, cannot be known. It is not run again",
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
