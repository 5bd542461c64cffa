// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/opcrew/opcrew/test/testenv"
)

// run is one execution of a workload, with or without a fault.
type run struct {
	t         *testing.T
	ctx       context.Context
	env       *testenv.Env
	subject   *Subject
	work      Workload
	reference *outcome // nil if this run is the reference
	kinds     []schema.GroupVersionKind
	user      *User
	journal   *journal
	wire      *wire
	observer  *observer
	hooks     hooks
	out       *outcome

	baseline map[Key]bool // objects that existed before this run of the workload

	supervision sync.WaitGroup
	mu          sync.Mutex
	crashed     chan *instance // nil once no new process may start
	instances   []*instance
	starting    int
	problems    []string
}

// hooks are the functions with which a fault acts at the steps of a workload: before the user's action, between the
// action and the wait for its result, and after the wait.
type hooks struct {
	before, between, after func(step int)
	// unawaited contains the steps after which the next step starts without waiting for the result.
	unawaited map[int]bool
	// slack is how much longer than usual the operator may act on a stale view.
	slack time.Duration
	// silent, if set, is called at the end of a run of the workload. Its result describes what the operator should have
	// reported but did not.
	silent func() string
}

// execute runs all steps of the workload and does all checks.
func (r *run) execute() *outcome {
	begin := time.Now()
	r.out = &outcome{journal: r.journal}
	r.tried(func() {
		defer r.clean()
		r.prepare()
		r.tried(r.carryOut)
		r.verify()
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.problems, r.out.writes, r.out.took = r.problems, r.wire.all(), time.Since(begin)
	return r.out
}

func (r *run) carryOut() {
	r.launch(nil)
	for i := range r.work.Steps {
		r.step(i)
	}
	r.checkDeletion()
}

// tried calls part, and records a panic as a problem of this run of the workload.
func (r *run) tried(part func()) {
	if err := attempt(part); err != nil {
		r.problem("%v", err)
	}
}

func (r *run) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.journal.add("PROBLEM: %s", text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, text)
}

// step runs one step, and waits for the step's condition.
func (r *run) step(i int) {
	step := r.work.Steps[i]
	version, err := r.observer.catchUp(r.ctx)
	must(err)
	r.out.versions = append(r.out.versions, version)
	if i == len(r.work.Steps)-1 && !r.hooks.unawaited[i-1] {
		r.checkEnd()
	}
	r.journal.add("--- step %d: %s", i, step.Name)
	call(r.hooks.before, i)
	r.do(i)
	_, err = r.observer.catchUp(r.ctx)
	must(err)
	call(r.hooks.between, i)
	if !r.hooks.unawaited[i] {
		must(r.await(step))
	}
	view, _, _ := r.observer.view()
	r.out.own = append(r.out.own, view.Objects(r.kinds[0].Kind))
	call(r.hooks.after, i)
}

// do calls the user's action. If the run did not wait for the previous step, do retries an action that fails. For
// example, a user cannot recreate an object while the old one still has a finalizer.
func (r *run) do(i int) {
	err := attempt(func() { r.work.Steps[i].Do(r.user) })
	if err == nil {
		return
	}
	if !r.hooks.unawaited[i-1] {
		must(err)
	}
	r.journal.add("not possible yet: %v", err)
	r.letGo(true)
	must(r.await(r.work.Steps[i-1]))
	r.work.Steps[i].Do(r.user)
}

func attempt(do func()) (err error) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case stopped:
			err = why.error
		default:
			panic(why)
		}
	}()
	do()
	return nil
}

func call(hook func(int), step int) {
	if hook != nil {
		hook(step)
	}
}
