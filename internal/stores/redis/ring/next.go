// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// rule looks at one thing that may have to be done.
type rule func(*facts) verdict

// rules are in the order of what must not wait: the first that has a step has it taken.
func rules() []rule {
	return []rule{
		seen,      // nothing is done on an old view
		admit,     // who may be copied by replicas, whatever else is wrong
		distinct,  // nor while it is not known who is who
		create,    // number the processes of a new cluster
		renew,     // who was in the cluster before
		introduce, // whoever does not know where another is
		takeover,  // shards that cannot be had back by an election
		forsake,   // primaries whose data the user has given up
		assign,    // the slots of a new cluster, and those that were given up
		moving,    // the rest waits for slots that are on their way
		afterFailure,
		settle,    // slots that a move has left open
		failback,  // the lead goes home
		handover,  // and leaves one that is about to be stopped
		replicate, // whoever follows no one, or the wrong one
		forget,    // who has been replaced
		balance,   // move slots: out of pods that leave, and evenly over those that stay
		leave,     // take emptied processes out
		serving,   // and tell who is missed
	}
}

// Next decides what is to be done next. The step is nil when there is nothing to do, or when
// Why says what is waited for.
func Next(view redis.View, wanted Ring) (Step, Why) {
	f := survey(view, wanted)
	var found verdict
	for _, look := range rules() {
		found.add(look(f))
		if found.step != nil || found.halt {
			break
		}
	}
	return found.step, Why{Doing: found.doing, Refusals: found.refusals}
}

func seen(f *facts) verdict {
	switch {
	case f.ring.Nodes < 1:
		return halt(Unseen, "a ring has at least one pod, and not %d", f.ring.Nodes)
	case f.view.Err != nil:
		return halt(Unseen, "nobody could be asked: %v", f.view.Err)
	case f.view.Stale:
		return halt(Unseen, "a step has just been taken")
	}
	return verdict{}
}

func distinct(f *facts) verdict {
	first := map[string]*proc{}
	for _, p := range f.answering() {
		if other, twice := first[p.status.ID]; twice {
			return halt(Twins, "%s and %s are both %s: does one run on a copy of the other's data?", other, p, p.status.ID)
		}
		first[p.status.ID] = p
	}
	return verdict{}
}

func moving(f *facts) verdict {
	if !f.view.Moving() {
		return f.jobs()
	}
	move := f.view.Move
	if move.Stopping {
		return halt(Moving, "slots are moved: %d of %d, and the move is about to stop", move.Moved, move.Slots)
	}
	if reason := f.stops(move); reason != "" {
		return take(redis.StopMove{}, "stop a move of slots: %s", reason)
	}
	return halt(Moving, "slots are moved: %d of %d", move.Moved, move.Slots)
}

// stops says why a move of slots is to end before all are moved; "" if it is not. What one may have to wait for that has
// a replica only, or leads where it shall not, takes moments, and a move may take hours: it is taken up again then.
func (f *facts) stops(move *redis.Progress) string {
	switch {
	case f.ring.Paused:
		return "the cluster is paused"
	case move.Goal != f.ring.Nodes:
		return fmt.Sprintf("it is for %d pods, and %d are wanted", move.Goal, f.ring.Nodes)
	case move.BytesPerSecond != f.ring.Rate:
		return "another rate is wanted"
	}
	for _, end := range move.Ends {
		if p := f.byID[end.ID]; p != nil && f.handsOver(p) {
			return fmt.Sprintf("%s is about to be stopped", p)
		}
	}
	stopped := *f
	stopped.closes = true
	for _, look := range []rule{failback, handover, replicate} {
		if found := look(&stopped); found.step != nil {
			return found.doing + " first"
		}
	}
	return ""
}

// jobs waits for those of the servers that no one here waits for: anyone who began them may be gone. Those that the servers
// would try again for ever are called off.
func (f *facts) jobs() verdict {
	for _, p := range f.primaries() {
		if len(p.status.Jobs) == 0 {
			continue
		}
		job := p.status.Jobs[0]
		if job.Retried {
			return take(redis.CancelJob{Address: p.Address, Name: job.Name}, "call off a job of %s that fails: %s", p, job.Message)
		}
		return halt(Moving, "slots %s are moved by a job of %s, which is at %s", brief(job.Slots), p, job.State)
	}
	return verdict{}
}
