// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/agents/hostrun/account"
	"github.com/opcrew/opcrew/internal/agents/hostrun/markers"
	"github.com/opcrew/opcrew/internal/agents/shared/mask"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const bootIDFile = "/proc/sys/kernel/random/boot_id"

// work is what the runner, the process in the container, sends to the host stage, the process on the host.
type work struct {
	Order   hostjob.Order     `json:"order"`
	Markers string            `json:"markers"`
	Secrets map[string]string `json:"secrets"` // values of Secrets by the name of their variable
}

// host executes an order on the host.
type host struct {
	work
	ledger markers.Ledger
	boot   string
	log    io.Writer
	// cancelled is done when the command must be ended. lost is done when the process in the container has ended.
	cancelled, lost context.Context
}

// result executes the order (the description of a command), unless an earlier call has already started it, and returns
// the encoded result. If this call executed the order, it first stores the result on disk.
func (h *host) result() []byte {
	r, ran := h.attempt()
	r.BootID = h.boot
	r.Message = mask.Text(r.Message, h.values()...)
	text := hostjob.EncodeResult(*r)
	if !ran {
		return text
	}
	if err := h.ledger.Keep(markers.Key(h.Order), text); err != nil {
		r.Message = fmt.Sprintf("%s; the result could not be stored on the host: %v", r.Message, err)
		text = hostjob.EncodeResult(*r)
	}
	return text
}

// attempt executes the order (the description of a command). ran is true if this call started the command.
func (h *host) attempt() (r *hostjob.Result, ran bool) {
	if r := h.earlier(); r != nil {
		return r, false
	}
	if r := h.forgotten(); r != nil {
		return r, false
	}
	who, refusal := account.Resolve(h.Order.User)
	if refusal != nil {
		return refusal, false
	}
	c, err := launch(spec{Argv: argv(h.Order), Env: environ(who, h.Order.Envs, h.Secrets), Dir: h.Order.Dir, Who: who})
	if err != nil {
		return hostjob.Refuse(hostjob.ReasonNotReady, "%v", err), false
	}
	if refusal := h.ready(c); refusal != nil {
		c.abandon()
		return refusal, false
	}
	if refusal := h.mark(); refusal != nil {
		c.abandon()
		return refusal, false
	}
	return h.follow(c), true
}

// ready waits until the shim, which will become the command, is ready to execute it. It returns a result if the command
// must not start.
func (h *host) ready(c *child) *hostjob.Result {
	select {
	case refusal := <-c.ready:
		if refusal == nil && h.cancelled.Err() != nil {
			return cancelledBefore()
		}
		return refusal
	case <-h.cancelled.Done():
		return cancelledBefore()
	case <-h.lost.Done():
		return hostjob.Refuse(hostjob.ReasonRunnerLost, "the runner process in the pod ended before the command was started")
	case <-time.After(readyTime):
		return hostjob.Refuse(hostjob.ReasonNotReady, "the process for the command was not ready within %s; the file system of %s may hang", readyTime, h.Order.Dir)
	}
}

func cancelledBefore() *hostjob.Result {
	return &hostjob.Result{State: hostjob.Cancelled, Reason: hostjob.ReasonPodEnded, Message: "the run was cancelled before the command was started"}
}

// mark writes the marker, the file that records that a run of the Activity was started. From then on the run counts as
// started.
func (h *host) mark() *hostjob.Result {
	err := h.ledger.Take(markers.Key(h.Order), markers.Marker{Created: h.Order.Created, Started: time.Now().UTC(), BootID: h.boot})
	switch {
	case errors.Is(err, fs.ErrExist):
		if r := h.earlier(); r != nil {
			return r
		}
		return hostjob.Doubt(hostjob.ReasonNoResult, "another process has just started this run, or has created a file with the name of its marker")
	case err != nil:
		return hostjob.Refuse(hostjob.ReasonNoMarker, "the command was not started, because its marker cannot be written on the host: %v", err)
	}
	return nil
}

// values returns the values of Secrets, which must not appear in messages or output.
func (h *host) values() []string { return slices.Collect(maps.Values(h.Secrets)) }

func bootID() string {
	text, _ := os.ReadFile(bootIDFile)
	return strings.TrimSpace(string(text))
}
