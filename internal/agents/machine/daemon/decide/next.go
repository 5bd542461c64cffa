// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package decide

import (
	"reflect"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// rule returns a step, or nil to leave the decision to the next rule.
type rule func(in *Input) *Step

// rules returns the rules in their order.
func rules() []rule {
	return []rule{
		broken,    // changes nothing without knowing what opcrew changed before
		trying,    // continues a change, also without the API server
		report,    // writes what has become true
		unknown,   // waits for an order that it can read
		note,      // keeps the policy and the peers of an order that it has completed
		settled,   // does not repeat an order
		check,     // finds out whether the host can have the configuration
		refused,   // does not begin what the host cannot complete
		undrained, // waits for the drain
		begin,     // begins the change
	}
}

// Next returns the next step.
func Next(in *Input) Step {
	for _, r := range rules() {
		if step := r(in); step != nil {
			return *step
		}
	}
	return Step{Do: Wait}
}

func broken(in *Input) *Step {
	if in.Broken == "" {
		return nil
	}
	if step := report(in); step != nil {
		return step
	}
	return &Step{Do: Wait, After: RecheckTime}
}

func trying(in *Input) *Step {
	switch {
	case in.Trial == nil:
		return nil
	case in.Trial.Step == trial.Report:
		return &Step{Do: Conclude}
	}
	return &Step{Do: Proceed}
}

func report(in *Input) *Step {
	if in.Annotations == nil || in.Unreachable {
		return nil
	}
	write := map[string]string{}
	for name, value := range Wanted(in) {
		if in.Annotations[name] != value {
			write[name] = value
		}
	}
	if len(write) == 0 {
		return nil
	}
	return &Step{Do: Report, Write: write}
}

func unknown(in *Input) *Step {
	if in.Order == nil {
		return maintain(in, 0)
	}
	return nil
}

func note(in *Input) *Step {
	if in.settled() && !isSame(in.Journal.Order, *in.Order) {
		return &Step{Do: Note}
	}
	return nil
}

// isSame compares as the journal stores an order. An empty list of actions is none there.
func isSame(a, b machineorder.Order) bool {
	one, errOne := machineorder.EncodeOrder(a)
	two, errTwo := machineorder.EncodeOrder(b)
	return reflect.DeepEqual(a, b) || errOne == nil && errTwo == nil && one == two
}

func settled(in *Input) *Step {
	if in.settled() {
		return maintain(in, 0)
	}
	return nil
}

// check repeats an old check if it failed, and before a change that had to wait for a drain: the host may have changed.
func check(in *Input) *Step {
	c := in.checked()
	if c == nil || in.Uptime-c.At >= RecheckTime && (c.Problem != "" || in.drained()) {
		return &Step{Do: Preflight}
	}
	return nil
}

func refused(in *Input) *Step {
	if in.refusal() == "" {
		return nil
	}
	return maintain(in, RecheckTime-(in.Uptime-in.checked().At))
}

func undrained(in *Input) *Step {
	if in.drained() {
		return nil
	}
	return maintain(in, 0)
}

func begin(*Input) *Step { return &Step{Do: Begin} }

// untilScan returns how long to wait for the next scan. A file that changes all the time does not cause one each second.
func (in *Input) untilScan() time.Duration {
	if in.Scanned == nil {
		return 0
	}
	pause := ScanTime
	if in.Changed {
		pause = CalmTime
	}
	return pause - (in.Uptime - *in.Scanned)
}

// maintain looks for drift while the agent has nothing else to do.
func maintain(in *Input, after time.Duration) *Step {
	if !in.Managed {
		return &Step{Do: Wait, After: after}
	}
	next := in.untilScan()
	if next <= 0 {
		return &Step{Do: Scan}
	}
	if after > 0 {
		next = min(next, after)
	}
	return &Step{Do: Wait, After: next}
}
