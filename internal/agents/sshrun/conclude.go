// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"fmt"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// conclude returns the result for the last report about a run.
func (r *runner) conclude(why cause, last report) *hostjob.Result {
	switch last.word {
	case wordEnd:
		return r.ended(why, last, r.clock.Now())
	case wordResult:
		out := r.ended(why, last, last.end)
		out.StartedAt, out.Again = last.begin, true
		out.Message += "; opcrew read this result later, and does not have all output"
		return out
	case wordRefuse:
		return r.refusedBy(last.text)
	case wordSilent:
		return hostjob.Refuse(hostjob.ReasonNoShell, "the command was not started: on %s, the login shell of user %s does not execute commands", r.target, r.order.User)
	case wordNone:
		if r.late() {
			return r.tooLate("the host has no record of it")
		}
		return hostjob.Doubt(hostjob.ReasonConnection, "the connection to %s was lost while the command was being started, and the host has no record of it; it is not started again", r.target)
	case wordLost, wordAlive:
		return hostjob.Doubt(hostjob.ReasonNoResult, "run %d was started on %s earlier and left no result, for example because the machine was restarted; it is unknown how far the command ran, so it is not run again", r.order.Run, r.target)
	}
	return r.unclear(why, last)
}

// unclear returns the result of a command about which the host says nothing useful.
func (r *runner) unclear(why cause, last report) *hostjob.Result {
	text := last.text
	if last.word != wordBroken {
		text = "the host sent a report that opcrew does not know"
	}
	begin := map[cause]string{byCancel: "the run was cancelled, but ", byTimeout: "the run exceeded its time limit, but "}[why]
	return hostjob.Doubt(hostjob.ReasonConnection, "%sit is unknown whether and how far the command ran on %s: %s; it is not run again", begin, r.target, text)
}

// ended returns the result of a command that has ended.
func (r *runner) ended(why cause, end report, at time.Time) *hostjob.Result {
	out := &hostjob.Result{State: hostjob.Succeeded, Reason: hostjob.ReasonExited, ExitCode: &end.code, EndedAt: at}
	how := fmt.Sprintf("exited with code %d", end.code)
	if end.left {
		how += "; it left processes behind, which were killed"
	}
	switch {
	case why == byCancel:
		out.State, out.Reason, out.Message = hostjob.Cancelled, hostjob.ReasonPodEnded, "the run was cancelled, and the command "+how
	case why == byTimeout:
		out.State, out.Reason, out.Message = hostjob.TimedOut, hostjob.ReasonDeadline, "the run exceeded its time limit, and the command "+how
	case end.code != 0:
		out.State, out.Message = hostjob.Failed, how
	default:
		out.Message = how
	}
	return out
}

// refusedBy returns the result of a command that the script did not start. The text is from the host, so only known
// reasons are used.
func (r *runner) refusedBy(text string) *hostjob.Result {
	o := r.order
	switch text {
	case "NoSetsid":
		return hostjob.Refuse(hostjob.ReasonNoCommand, "%s has no program setsid, which opcrew needs to end the processes of a command; install util-linux or busybox", r.target)
	case hostjob.ReasonNoDirectory:
		return hostjob.Refuse(text, "%s has no directory %s", r.target, o.Dir)
	case hostjob.ReasonDirectory:
		return hostjob.Refuse(text, "user %s may not enter directory %s on %s", o.User, o.Dir, r.target)
	case hostjob.ReasonNoCommand:
		return hostjob.Refuse(text, "%s has no program %.200s that user %s may execute", r.target, r.program(), o.User)
	case hostjob.ReasonNoMarker:
		return hostjob.Refuse(text, "the command was not started, because user %s cannot write the record of its start on %s (below ~/.local/state/opcrew, for root below /var/lib/opcrew)", o.User, r.target)
	}
	return hostjob.Refuse(hostjob.ReasonNotReady, "%s did not start the command", r.target)
}

func (r *runner) program() string {
	if len(r.order.Args) > 0 {
		return r.order.Args[0]
	}
	return "/bin/sh"
}
