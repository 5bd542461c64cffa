// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"net/http"
)

// perWrite returns a function that returns one case for every write in the run without faults. befall creates the fault
// for this write.
func perWrite(befall func(r *run, i *instance) fault) func(plan) []Case {
	return func(p plan) []Case {
		var all []Case
		for k := 1; k <= len(p.ref.writes); k++ {
			all = append(all, Case{id: fmt.Sprint(k), size: k, arm: func(r *run) {
				r.wire.on(func(w *write, i *instance) fault {
					if w.n != k {
						return nil
					}
					r.journal.mark("fault at this write: %s", w.target)
					return befall(r, i)
				})
			}})
		}
		return all
	}
}

// crashAfter returns a fault that crashes the operator process right after the server has executed a write.
func crashAfter(r *run, i *instance) fault {
	return func(send func() (*http.Response, error)) (*http.Response, error) {
		defer r.crash(i)
		return send()
	}
}

// crashBefore returns a fault that crashes the operator process just before the process sends a write.
func crashBefore(r *run, i *instance) fault {
	return func(func() (*http.Response, error)) (*http.Response, error) {
		r.crash(i)
		return nil, errCrashed
	}
}

// lost returns a fault of a write: the server executes the write, but the operator gets a connection error instead of
// the response.
func lost(*run, *instance) fault {
	return func(send func() (*http.Response, error)) (*http.Response, error) {
		if _, err := send(); err != nil {
			return nil, err
		}
		return nil, errLost
	}
}

// crashOften returns cases in which every operator process crashes after a certain number of writes.
func crashOften(p plan) []Case {
	var all []Case
	for every := 1; every <= 3 && every < len(p.ref.writes); every++ {
		all = append(all, Case{id: fmt.Sprint(every), size: every, arm: func(r *run) {
			begun := map[int]int{}
			r.wire.on(func(w *write, i *instance) fault {
				r.mu.Lock()
				defer r.mu.Unlock()
				if w.dry {
					return nil // do not count a dry run, because it changes nothing
				}
				begun[w.instance]++
				if begun[w.instance] != every {
					return nil
				}
				r.journal.mark("the process crashes after: %s", w.target)
				return crashAfter(r, i)
			})
		}})
	}
	return all
}
