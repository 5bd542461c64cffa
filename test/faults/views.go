// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"
)

// most is the longest time for which a view is kept stale.
const most = 700 * time.Millisecond

// late delays every event by a different time, but keeps the events in order.
func late(p plan) []Case {
	var all []Case
	for seed := range 3 {
		for _, resource := range p.orAll() {
			all = append(all, Case{id: fmt.Sprintf("%s-%d", resource, seed+1), size: seed, arm: func(r *run) {
				random := Case{seed: uint64(seed + 1)}.random()
				r.hooks.slack = most
				r.journal.mark("events of %s come late", resource)
				// All streams share one random source, which the gate's lock guards.
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

// orAll returns the resources, preceded by a name for all of them together.
func (p plan) orAll() []string { return append([]string{everything}, p.resources...) }

// perStep returns a case for every step and resource, and for all resources together.
func (p plan) perStep(steps int, arm func(r *run, step int, resource string)) []Case {
	var all []Case
	for step := range steps {
		for _, resource := range p.orAll() {
			all = append(all, Case{id: fmt.Sprintf("%d-%s", step, resource), size: step, arm: func(r *run) { arm(r, step, resource) }})
		}
	}
	return all
}

// held has the operator get the events of a step only after it has done everything that it can without them.
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

// coalesced lets the operator see only the outcome of two steps.
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

// letGo ends a hold, and delivers all held events or only the last event of each object.
func (r *run) letGo(onlyLast bool) {
	r.pause()
	r.journal.add("events go on")
	r.wire.gate.release(onlyLast)
}

// relisted breaks watches at a step. A new list then shows what has happened since.
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
