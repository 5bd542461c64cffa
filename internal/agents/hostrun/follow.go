// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"time"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	// pipeTime is how long output may still come when the command itself has ended.
	pipeTime = time.Second
	// leftTime is how long what a command left behind may take to end.
	leftTime = 2 * time.Second
)

// cause is why a command ends.
type cause int

const (
	byItself cause = iota
	byCancel
	byTimeout
	byLoss
)

// follow lets a command run, to its end and that of all that it has begun.
func (h *host) follow(c *child) *hostjob.Result {
	out := newOutput(h.log, h.values()...)
	go out.follow(c.output)
	r := &hostjob.Result{StartedAt: time.Now()}
	// If the shim cannot be known, it has ended, which is what is waited for next.
	_ = c.release()
	why, ended := h.wait(c.family)
	end := h.clear(c.family, why, ended, out)
	conclude(r, why, end)
	if end.exit != nil {
		if failure := <-c.failed; failure != nil {
			r = failure
		}
	}
	out.end(r)
	return r
}

// wait gives why the command ends, and how, if it did so by itself.
func (h *host) wait(f *family) (cause, *exit) {
	var timeout <-chan time.Time
	if h.Order.TimeoutSeconds > 0 {
		timeout = time.After(time.Duration(h.Order.TimeoutSeconds) * time.Second)
	}
	why := byItself
	select {
	case e := <-f.ended:
		return byItself, &e
	case <-h.cancelled.Done():
		why = byCancel
	case <-timeout:
		why = byTimeout
	case <-h.lost.Done():
		why = byLoss
	}
	select {
	case e := <-f.ended: // at the same time, so that there is nothing to cancel any more
		return byItself, &e
	default:
		return why, nil
	}
}

// ending is how a command and its processes have ended.
type ending struct {
	exit        *exit // none if even SIGKILL did not end it
	found, left int   // processes that were asked to end, and that could not be made to
}

// clear ends whatever is there still.
func (h *host) clear(f *family, why cause, ended *exit, out *output) ending {
	e := ending{exit: ended}
	grace := time.Duration(h.Order.GraceSeconds) * time.Second
	switch why {
	case byItself:
		grace = leftTime
		within(pipeTime, out.done) // what prints the last lines may do so
	case byLoss:
		grace = 0 // soon the kubelet kills this process too
	}
	e.found, e.left = f.end(h.lost, grace)
	within(pipeTime, out.done)
	select {
	case last := <-f.ended:
		e.exit = &last
	default:
	}
	return e
}

func within(most time.Duration, done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(most):
	}
}
