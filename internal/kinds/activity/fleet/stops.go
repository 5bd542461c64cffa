// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

// lost ends a run of which Activities are gone although they had a finalizer. Whether their commands ran is unknown, so
// that no host may start.
func lost(in *Input) *Verdict {
	if in.Lost == 0 {
		return nil
	}
	return in.ending(egov1.StateUnknown, egov1.ReasonLost, fmt.Sprintf("the Activities of %s are gone, because their finalizer was removed by force, so opcrew cannot know where the command ran; check the hosts, then raise spec.run", hosts(in.Lost)))
}

func cancelled(in *Input) *Verdict {
	if !in.Cancelled {
		return nil
	}
	v := in.ending(egov1.StateCancelled, egov1.ReasonCancelled, "the run was cancelled; no further host starts")
	v.Cancel = true
	return v
}

func badWindow(in *Input) *Verdict {
	w := windowAt(in.Limits.Window, in.Now)
	if w.wrong == "" {
		return nil
	}
	return in.ending(egov1.StateFailed, egov1.ReasonBadSchedule, w.wrong+"; change hosts.window together with spec.run")
}

// noPoolInterval is the time between two looks for a NodePool that does not exist.
const noPoolInterval = time.Minute

func noHosts(in *Input) *Verdict {
	if len(in.Hosts) > 0 {
		return nil
	}
	if in.NoPool {
		v := in.going(egov1.ReasonNoHosts, "no node matches "+in.Selection+", because this NodePool does not exist; create it, or create another Activity, because hosts cannot change; the run starts when the pool has a node")
		v.Again = noPoolInterval
		return &v
	}
	v := in.going(egov1.ReasonNoHosts, "no node matches "+in.Selection+"; the run starts when a node does")
	return &v
}

// allEnded ends a run that no host has to begin or to end any more.
func allEnded(in *Input) *Verdict {
	if in.count((*Host).over) < in.total() {
		return nil
	}
	if n := in.count((*Host).failed); n > 0 {
		return &Verdict{State: egov1.StateFailed, Reason: egov1.ReasonHostsFailed,
			Message: fmt.Sprintf("the command did not succeed on %d of %s; status.fleet.groups shows the results; raise spec.run to run it again", n, hosts(len(in.Hosts))) + in.cordons()}
	}
	return &Verdict{State: egov1.StateSucceeded, Reason: egov1.ReasonSucceeded, Message: "the command succeeded on all of " + hosts(len(in.Hosts))}
}

// continues says how a user continues a run that was stopped.
const continues = "; see status.fleet.groups, and raise spec.run to continue with the hosts on which the command has not succeeded"

func canaryFailed(in *Input) *Verdict {
	c := in.Limits.Canary
	if c == nil || in.count((*Host).begun) > int(c.Hosts) || in.count((*Host).failed) == 0 {
		return nil
	}
	return in.ending(egov1.StateFailed, egov1.ReasonStoppedOnFailure, "the command did not succeed on a canary host, so no other host started"+continues)
}

func tooManyFailed(in *Input) *Verdict {
	n, most := in.count((*Host).failed), int(ptr.Deref(in.Limits.MaxFailures, 0))
	if n <= most {
		return nil
	}
	return in.ending(egov1.StateFailed, egov1.ReasonStoppedOnFailure, fmt.Sprintf("the command did not succeed on %s, more than maxFailures (%d) allows, so no further host started", hosts(n), most)+continues)
}

func obstructed(in *Input) *Verdict {
	switch o := in.Obstacle; {
	case o == nil:
		return nil
	case o.Final:
		return in.ending(egov1.StateRefused, o.Reason, o.Message)
	default:
		v := in.going(o.Reason, o.Message)
		v.Again = obstacleInterval
		return &v
	}
}

func hosts(n int) string {
	if n == 1 {
		return "1 host"
	}
	return fmt.Sprintf("%d hosts", n)
}
