// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// conclude sets the state, reason and message of a result according to how the command ended.
func conclude(r *hostjob.Result, why cause, e ending) {
	r.EndedAt = time.Now()
	how := "could not be killed"
	if e.exit != nil {
		r.EndedAt = e.exit.At
		how = describe(r, e.exit.Status)
	}
	switch why {
	case byExit:
		judge(r, e.exit.Status)
		r.Message = how
	case byCancel:
		r.State, r.Reason, r.Message = hostjob.Cancelled, hostjob.ReasonPodEnded, "the run was cancelled, and the command "+how
	case byTimeout:
		r.State, r.Reason, r.Message = hostjob.TimedOut, hostjob.ReasonDeadline, "the run exceeded its time limit, and the command "+how
	case byLoss:
		r.State, r.Reason, r.Message = hostjob.Failed, hostjob.ReasonRunnerLost, "the runner process in the pod was killed, and the command "+how
	}
	r.Message = sentence(r.Message, why, e)
}

func sentence(text string, why cause, e ending) string {
	if why == byExit && e.found > 0 {
		text += fmt.Sprintf("; it left behind %d processes, which were killed", e.found)
	}
	if e.left > 0 {
		text += fmt.Sprintf("; %d processes could not be killed", e.left)
	}
	return text
}

func judge(r *hostjob.Result, status syscall.WaitStatus) {
	switch {
	case status.Signaled():
		r.State, r.Reason = hostjob.Failed, hostjob.ReasonSignaled
	case status.ExitStatus() != 0:
		r.State, r.Reason = hostjob.Failed, hostjob.ReasonExited
	default:
		r.State, r.Reason = hostjob.Succeeded, hostjob.ReasonExited
	}
}

// describe sets the exit code or the signal of the result, and returns a text about how the command ended.
func describe(r *hostjob.Result, status syscall.WaitStatus) string {
	if status.Signaled() {
		if r.Signal = unix.SignalName(status.Signal()); r.Signal == "" {
			r.Signal = fmt.Sprintf("SIG%d", status.Signal())
		}
		return "was killed by " + r.Signal
	}
	code := status.ExitStatus()
	r.ExitCode = &code
	return fmt.Sprintf("exited with code %d", code)
}
