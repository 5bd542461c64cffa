// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"
)

// olderView returns cases in which a new operator process replaces the current one after a step, and reads from an API
// server that has not seen the step yet. The first lists of the new process do not contain the changes of the step. The
// process receives these changes later, as events.
func olderView(p plan) []Case {
	return p.perStep(len(p.work.Steps), func(r *run, step int, resource string) {
		r.hooks.slack = 4 * most
		r.hooks.after = at(step, func() {
			r.settle()
			// Make the old lists older than any view that the operator has in a run without faults.
			time.Sleep(lag / 2)
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

// twoLeaders returns cases in which a second active operator process starts at a step, as if the first process had not
// noticed that it lost its lease.
func twoLeaders(p plan) []Case {
	var all []Case
	for step := range p.work.Steps {
		all = append(all, Case{id: fmt.Sprint(step), size: step, arm: func(r *run) {
			r.hooks.before = at(step, func() {
				r.journal.mark("a second process starts")
				r.launch(nil)
			})
		}})
	}
	return all
}

// restarted returns cases in which a new operator process starts while the actual state equals the desired state. The
// new process must change nothing.
func restarted(p plan) []Case {
	return p.atRest(func(r *run) {
		must(r.running().end())
		r.launch(nil)
	})
}

// extra returns cases in which every controller reconciles every object a few more times. This must change nothing.
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

// atRest returns a case for every step except the deletion. Once the operator has nothing to do after the step, the
// case calls do, which must not cause a single write.
func (p plan) atRest(do func(r *run)) []Case {
	var all []Case
	for step := range len(p.work.Steps) - 1 {
		all = append(all, Case{id: fmt.Sprint(step), size: step, arm: func(r *run) {
			r.hooks.after = at(step, func() {
				r.settle()
				before := len(r.wire.all())
				r.journal.mark("the operator has nothing to do; from here on it must not write")
				do(r)
				r.settle()
				for _, w := range r.wire.all()[before:] {
					r.problem("the operator wrote although it had nothing to do: %s", w)
				}
			})
		}})
	}
	return all
}
