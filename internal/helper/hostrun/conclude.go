// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// conclude puts into words how it ended. Pure.
func (r *Result) conclude(why cause, e ending) {
	r.EndedAt = time.Now()
	how := "could not be ended"
	if e.exit != nil {
		r.EndedAt = e.exit.at
		how = r.describe(e.exit.status)
	}
	switch why {
	case byItself:
		r.judge(e.exit.status)
		r.Message = how
	case byCancel:
		r.State, r.Reason, r.Message = Cancelled, ReasonPodEnded, "cancelled, and the command "+how
	case byTimeout:
		r.State, r.Reason, r.Message = TimedOut, ReasonDeadline, "out of time, and the command "+how
	case byLoss:
		r.State, r.Reason, r.Message = Failed, ReasonRunnerLost, "the runner in the pod was killed, and the command "+how
	}
	r.Message = sentence(r.Message, why, e)
}

func sentence(text string, why cause, e ending) string {
	if why == byItself && e.found > 0 {
		text += fmt.Sprintf("; processes that it left behind and that were ended: %d", e.found)
	}
	if e.left > 0 {
		text += fmt.Sprintf("; processes that could not be ended: %d", e.left)
	}
	return text
}

func (r *Result) judge(status syscall.WaitStatus) {
	switch {
	case status.Signaled():
		r.State, r.Reason = Failed, ReasonSignaled
	case status.ExitStatus() != 0:
		r.State, r.Reason = Failed, ReasonExited
	default:
		r.State, r.Reason = Succeeded, ReasonExited
	}
}

// describe notes how a process ended, and says so.
func (r *Result) describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		if r.Signal = unix.SignalName(status.Signal()); r.Signal == "" {
			r.Signal = fmt.Sprintf("SIG%d", status.Signal())
		}
		return "was ended by " + r.Signal
	}
	code := status.ExitStatus()
	r.ExitCode = &code
	return fmt.Sprintf("exited with code %d", code)
}
