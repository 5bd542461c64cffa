// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"
)

// most is the maximum time for which a fault keeps the operator's view stale.
const most = 700 * time.Millisecond

// late returns cases in which every event is delayed by a different time. The events of a watch stay in order.
func late(p plan) []Case {
	var all []Case
	for seed := range 3 {
		for _, resource := range p.orAll() {
			all = append(all, Case{id: fmt.Sprintf("%s-%d", resource, seed+1), size: seed, arm: func(r *run) {
				random := Case{seed: uint64(seed + 1)}.random()
				r.hooks.slack = most
				r.journal.mark("events of %s are delayed", resource)
				// All watches share one random source. The gate holds its lock while it calls this function.
				r.wire.gate.late(func(of string) time.Duration {
					if of != resource && resource != everything {
						return 0
					}
					return time.Duration(random.IntN(200)) * time.Millisecond
				})
			}})
		}
	}
	return all
}

// orAll returns a list with the names of all resources. The first element is the special name that means all resources.
func (p plan) orAll() []string { return append([]string{everything}, p.resources...) }

// perStep returns a case for every combination of a step and a resource, and, for each step, a case for all resources
// together.
func (p plan) perStep(steps int, arm func(r *run, step int, resource string)) []Case {
	var all []Case
	for step := range steps {
		for _, resource := range p.orAll() {
			all = append(all, Case{id: fmt.Sprintf("%d-%s", step, resource), size: step, arm: func(r *run) { arm(r, step, resource) }})
		}
	}
	return all
}

// held returns cases in which the operator gets the events of a step late, only after it has done everything that it
// can without them.
func held(p plan) []Case {
	return p.perStep(len(p.work.Steps), func(r *run, step int, resource string) {
		r.hooks.slack = 2 * most
		r.hooks.before = at(step, func() {
			r.journal.mark("events of %s are held", resource)
			r.wire.gate.hold(resource)
		})
		r.hooks.between = at(step, func() { r.letGo(false) })
	})
}

// coalesced returns cases in which the operator sees only the final state of two steps.
func coalesced(p plan) []Case {
	return p.perStep(len(p.work.Steps)-1, func(r *run, step int, resource string) {
		r.hooks.slack = 4 * most
		r.hooks.unawaited = map[int]bool{step: true}
		r.hooks.before = at(step, func() {
			r.journal.mark("events of %s are held over two steps", resource)
			r.wire.gate.hold(resource)
		})
		r.hooks.between = func(i int) {
			if i == step {
				r.pause()
			}
			if i == step+1 {
				r.letGo(true)
			}
		}
	})
}

// letGo delivers the events that were held back, or only the last event of each object if onlyLast is set.
func (r *run) letGo(onlyLast bool) {
	r.pause()
	r.journal.add("the held events are delivered")
	r.wire.gate.release(onlyLast)
}

// relisted returns cases in which watches break at a step. The operator then lists all objects again and sees what has
// changed.
func relisted(p plan) []Case {
	return p.perStep(len(p.work.Steps), func(r *run, step int, resource string) {
		r.hooks.slack = 5 * most
		r.hooks.before = at(step, func() {
			r.journal.mark("the watch of %s breaks", resource)
			r.wire.gate.drop(resource)
		})
		r.hooks.between = at(step, func() {
			r.pause()
			r.journal.add("the watch starts again")
			r.wire.gate.expire()
		})
	})
}

func at(step int, do func()) func(int) {
	return func(i int) {
		if i == step {
			do()
		}
	}
}
