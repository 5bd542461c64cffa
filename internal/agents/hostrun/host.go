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

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const bootIDFile = "/proc/sys/kernel/random/boot_id"

// work is what the runner hands to the host stage.
type work struct {
	Order   hostjob.Order     `json:"order"`
	Markers string            `json:"markers"`
	Secrets map[string]string `json:"secrets"` // the values of variables
}

// host carries out an order. It is wholly on the host.
type host struct {
	work
	ledger ledger
	boot   string
	log    io.Writer
	// cancelled ends when the command shall end, lost when the runner has gone.
	cancelled, lost context.Context
}

// result carries out the order, unless that was begun before, and gives the bytes to report,
// which are by then on the disk.
func (h *host) result() []byte {
	r, ran := h.attempt()
	r.BootID = h.boot
	r.Message = mask(r.Message, h.values()...)
	text := hostjob.EncodeResult(*r)
	if !ran {
		return text
	}
	if err := h.ledger.keep(key(h.Order), text); err != nil {
		r.Message = fmt.Sprintf("%s; the result could not be kept on the host: %v", r.Message, err)
		text = hostjob.EncodeResult(*r)
	}
	return text
}

// attempt tells also whether the run was begun here and now.
func (h *host) attempt() (r *hostjob.Result, ran bool) {
	if r := h.before(); r != nil {
		return r, false
	}
	if r := h.forgotten(); r != nil {
		return r, false
	}
	who, refusal := resolve(h.Order.User)
	if refusal != nil {
		return refusal, false
	}
	c, err := launch(spec{Argv: argv(h.Order), Env: environ(who, h.Order.Envs, h.Secrets), Dir: h.Order.Dir, Who: who})
	if err != nil {
		return notStarted(hostjob.ReasonNotReady, "%v", err), false
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

// ready waits until the shim has become all but the command.
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
		return notStarted(hostjob.ReasonRunnerLost, "the runner in the pod ended before the command was begun")
	case <-time.After(readyTime):
		return notStarted(hostjob.ReasonNotReady, "the process was not ready within %s: does %s hang?", readyTime, h.Order.Dir)
	}
}

func cancelledBefore() *hostjob.Result {
	return &hostjob.Result{State: hostjob.Cancelled, Reason: hostjob.ReasonPodEnded, Message: "cancelled before the command was begun"}
}

// mark takes the marker. From here on the run counts as begun, whatever happens.
func (h *host) mark() *hostjob.Result {
	err := h.ledger.take(key(h.Order), marker{Created: h.Order.Created, Started: time.Now().UTC(), BootID: h.boot})
	switch {
	case errors.Is(err, fs.ErrExist):
		if r := h.before(); r != nil {
			return r
		}
		return unknown(hostjob.ReasonNoResult, "somebody else has just begun this run, or put something in the place of its marker")
	case err != nil:
		return notStarted(hostjob.ReasonNoMarker, "the run cannot be marked on the host as begun, so it is not: %v", err)
	}
	return nil
}

// values are those that must not be asked to anybody.
func (h *host) values() []string { return slices.Collect(maps.Values(h.Secrets)) }

func bootID() string {
	text, _ := os.ReadFile(bootIDFile)
	return strings.TrimSpace(string(text))
}
