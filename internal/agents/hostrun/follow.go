// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"time"

	"github.com/opcrew/opcrew/internal/agents/hostrun/tree"
	"github.com/opcrew/opcrew/internal/agents/shared/output"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	// pipeTime is how long to wait for the last output after the command has ended.
	pipeTime = time.Second
	// leftTime is the grace period for processes that the command leaves behind.
	leftTime = 2 * time.Second
)

// cause is the reason why the command is ended.
type cause int

const (
	byExit cause = iota
	byCancel
	byTimeout
	byLoss
)

// follow lets the command run, until the command and all processes that it started have ended.
func (h *host) follow(c *child) *hostjob.Result {
	out := output.New(h.log, h.values()...)
	go out.Follow(c.output)
	r := &hostjob.Result{StartedAt: time.Now()}
	// An error means that the shim, the process that becomes the command, has ended. wait, called next, reports that.
	_ = c.release()
	why, ended := h.wait(c.Family)
	end := h.endAll(c.Family, why, ended, out)
	conclude(r, why, end)
	if end.exit != nil {
		if failure := <-c.failed; failure != nil {
			r = failure
		}
	}
	out.End(r)
	return r
}

// wait returns why the command ends. If it ended by itself, wait also returns its exit status.
func (h *host) wait(f *tree.Family) (cause, *tree.Exit) {
	var timeout <-chan time.Time
	if h.Order.TimeoutSeconds > 0 {
		timeout = time.After(time.Duration(h.Order.TimeoutSeconds) * time.Second)
	}
	why := byExit
	select {
	case e := <-f.Ended:
		return byExit, &e
	case <-h.cancelled.Done():
		why = byCancel
	case <-timeout:
		why = byTimeout
	case <-h.lost.Done():
		why = byLoss
	}
	select {
	case e := <-f.Ended: // the command ended at the same time, so there is nothing to cancel
		return byExit, &e
	default:
		return why, nil
	}
}

// ending describes how a command and its processes ended.
type ending struct {
	exit        *tree.Exit // nil if even SIGKILL did not end the command
	found, left int        // number of processes that got SIGTERM, and of those that could not be killed
}

// endAll ends all remaining processes of the command.
func (h *host) endAll(f *tree.Family, why cause, ended *tree.Exit, out *output.Output) ending {
	e := ending{exit: ended}
	grace := time.Duration(h.Order.GraceSeconds) * time.Second
	switch why {
	case byExit:
		grace = leftTime
		within(pipeTime, out.Done()) // waits a moment for the last lines of output
	case byLoss:
		grace = 0 // no grace period, because the kubelet kills this process soon
	}
	e.found, e.left = f.End(h.lost, grace)
	within(pipeTime, out.Done())
	select {
	case last := <-f.Ended:
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
