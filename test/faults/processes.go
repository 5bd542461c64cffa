// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"
)

// olderView: after a step the process restarts and reads from an API server that has not seen
// the step yet: its first lists are older than the step, and later events arrive afterwards.
func olderView(p plan) []Case {
	return p.perStep(len(p.work.Steps), func(r *run, step int, resource string) {
		r.hooks.slack = 4 * most
		r.hooks.after = at(step, func() {
			r.settle()
			time.Sleep(lag / 2) // no view is as old as this without a fault
			r.journal.add("a new process sees %s as of version %s, before the step", resource, r.out.versions[step])
			r.running().die()
			r.wire.gate.hold(resource)
			r.launch(map[string]string{resource: r.out.versions[step]})
			r.linger(3 * moment)
			r.letGo(false)
			must(r.await(r.work.Steps[step]))
		})
	})
}

// twoLeaders: from a step on two processes are active, as if one did not notice that it had
// lost its lease.
func twoLeaders(p plan) []Case {
	var all []Case
	for step := range p.work.Steps {
		all = append(all, Case{id: fmt.Sprint(step), size: step, arm: func(r *run) {
			r.hooks.before = at(step, func() {
				r.journal.mark("a second process begins")
				r.launch(nil)
			})
		}})
	}
	return all
}

// restarted: a new process finds the desired state, and changes nothing.
func restarted(p plan) []Case {
	return p.atRest(func(r *run) {
		must(r.running().end())
		r.launch(nil)
	})
}

// extra: every controller reconciles every object a few more times, and changes nothing.
func extra(p plan) []Case {
	return p.atRest(func(r *run) {
		view, _, err := r.observer.view()
		must(err)
		for range 3 {
			r.running().enqueue(view.keys())
			r.pause()
		}
	})
}

// atRest makes a case for every step but the deletion: at rest after the step, something
// happens that must not cause a single write.
func (p plan) atRest(do func(r *run)) []Case {
	var all []Case
	for step := range len(p.work.Steps) - 1 {
		all = append(all, Case{id: fmt.Sprint(step), size: step, arm: func(r *run) {
			r.hooks.after = at(step, func() {
				r.settle()
				before := len(r.wire.all())
				r.journal.mark("all is done; from here on nothing may be written")
				do(r)
				r.settle()
				for _, w := range r.wire.all()[before:] {
					r.problem("with nothing to do: %s", w)
				}
			})
		}})
	}
	return all
}
