// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/opcrew/opcrew/internal/agents/hostrun/markers"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// earlier returns the result of an earlier start of this run; nil if there was none. After a crash of the kubelet or
// the host, a kubelet may start the container again.
func (h *host) earlier() *hostjob.Result {
	found, err := h.ledger.Find(markers.Key(h.Order))
	switch {
	case err != nil:
		return hostjob.Doubt(hostjob.ReasonNoResult, "the marker of this run cannot be read, so the run may already have been started: %v", err)
	case found == nil:
		return nil
	}
	text, err := h.ledger.Result(markers.Key(h.Order))
	if errors.Is(err, fs.ErrNotExist) {
		return h.unfinished(found)
	}
	if err != nil {
		return hostjob.Doubt(hostjob.ReasonNoResult, "the result of this run on the host cannot be read: %v", err)
	}
	r, err := hostjob.ParseResult(string(text))
	if err != nil {
		return hostjob.Doubt(hostjob.ReasonNoResult, "the result of this run on the host is damaged: %v", err)
	}
	r.Again = true
	return &r
}

// forgotten refuses a run without a marker (the file that records its start) if the run may already have been started:
// the host may have been reinstalled under its old name, and have lost its markers. docs/design/hostrun.md describes
// the conditions.
func (h *host) forgotten() *hostjob.Result {
	o := h.Order
	inTime := o.BeginBefore.IsZero() || time.Now().Before(o.BeginBefore)
	if inTime || o.BootID == "" || h.boot == "" || h.boot == o.BootID {
		return nil
	}
	if empty, err := h.ledger.Empty(); err == nil && !empty {
		return nil
	}
	return hostjob.Doubt(hostjob.ReasonNoResult, "Run %d had to start before %s. The host has restarted since and has no record of any run, like a host that was reinstalled. "+
		"It is unknown whether the command already ran, so it is not started now", o.Run, o.BeginBefore.UTC().Format(time.RFC3339))
}

// unfinished returns the result of a run whose marker shows that it was started earlier, but that left no result.
func (h *host) unfinished(m *markers.Marker) *hostjob.Result {
	since := "earlier"
	if !m.Started.IsZero() {
		since = "at " + m.Started.UTC().Format(time.RFC3339)
	}
	return hostjob.Doubt(hostjob.ReasonNoResult, "run %d was started %s and left no result; %s. It is unknown whether the command ran, and how far, so it is not run again",
		h.Order.Run, since, h.rebooted(m))
}

func (h *host) rebooted(m *markers.Marker) string {
	switch {
	case m.BootID == "" || h.boot == "":
		return "it is unknown whether the host has rebooted since"
	case m.BootID != h.boot:
		return "the host has rebooted since"
	}
	return fmt.Sprintf("the host has not rebooted since (boot %s)", h.boot)
}
