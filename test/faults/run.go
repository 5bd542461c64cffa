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

// run is one run of a workload, with or without a fault.
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

	baseline map[Key]bool // what existed before the world was created

	supervision sync.WaitGroup
	mu          sync.Mutex
	crashed     chan *instance // nil once no process is started any more
	instances   []*instance
	starting    int
	problems    []string
}

// hooks are the actions of a class of faults at the steps of a workload: before the user acts, between the action and
// the wait, and after the wait.
type hooks struct {
	before, between, after func(step int)
	// unawaited are the steps after which the next step starts without a wait.
	unawaited map[int]bool
	// slack is how much longer than usual the operator may act on a stale view.
	slack time.Duration
	// silent is called at the end, and returns what should have been reported and was not.
	silent func() string
}

// execute runs the workload and does all checks.
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

// tried runs a part of a run and records its panic as a problem.
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

// step runs one step and waits for its condition.
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

// do runs the user's action, and retries it if it fails after a step without a wait. For instance, an object cannot be
// recreated while it still has a finalizer.
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
