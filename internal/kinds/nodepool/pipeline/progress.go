// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"fmt"
	"strings"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// progress is how far a pipeline has come, according to its Activities.
type progress struct {
	// open is the first step that has not succeeded and was not passed over, at an index of all steps (count); nil if
	// every step has ended.
	open         *nodesv1.Step
	index, count int
	// attempts is how often the open step was started, and last is its last Activity, if it has failed.
	attempts int
	last     *egov1.Activity
	// active is the Activity of the pipeline that has not ended, and earlier one of an earlier pipeline.
	active, earlier *egov1.Activity
	// failed are the names of the steps that have failed and were passed over.
	failed []string
}

// progress finds the Activities of the pipeline by their names, which depend only on the mark, the step and the
// attempt.
func (in Input) progress() *progress {
	p, byName := &progress{}, map[string]*egov1.Activity{}
	for _, a := range in.Activities {
		byName[a.Name] = a
		if a.Labels[RunLabel] != in.run() && !over(a) {
			p.earlier = a
		}
	}
	steps := Of(in.Pool, in.Mark.Phase).Steps
	p.count = len(steps)
	for i := range steps {
		p.add(in, &steps[i], i, byName)
	}
	return p
}

// add adds what is known about one step.
func (p *progress) add(in Input, step *nodesv1.Step, index int, byName map[string]*egov1.Activity) {
	attempts, last := 0, (*egov1.Activity)(nil)
	for n := 1; n <= int(step.Retries)+1; n++ {
		a := byName[in.name(step.Name, n)]
		if a == nil {
			continue
		}
		attempts, last = n, a
		if !over(a) {
			p.active = a
		}
	}
	switch {
	case p.open != nil || last != nil && last.Status.Prosta == egov1.StateSucceeded:
	case last != nil && over(last) && attempts > int(step.Retries) && !in.blocks():
		p.failed = append(p.failed, step.Name)
	default:
		p.open, p.index, p.attempts = step, index, attempts
		if last != nil && over(last) {
			p.last = last
		}
	}
}

// retries reports whether the open step may be repeated.
func (p *progress) retries() bool { return p.attempts <= int(p.open.Retries) }

// verdict returns a verdict about the open step.
func (p *progress) verdict(state State) Verdict {
	v := Verdict{State: state, Attempt: p.attempts}
	if p.open != nil {
		v.Step = p.open.Name
	}
	if p.last != nil {
		v.Activity = p.last.Name
	}
	if p.active != nil {
		v.Activity = p.active.Name
	}
	return v
}

// describe describes the open step.
func (p *progress) describe() string {
	step := ""
	if p.open != nil {
		step = fmt.Sprintf("step %s (%d of %d)", p.open.Name, p.index+1, p.count)
	}
	switch {
	case p.active != nil && p.active.Status.Prosta == egov1.StateRunning:
		return step + " runs"
	case p.active != nil:
		return step + " waits: " + explain(p.active)
	case p.last != nil:
		return fmt.Sprintf("%s has failed %s: %s", step, times(p.attempts), explain(p.last))
	}
	return step + " has not started"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// summary describes the end of a pipeline.
func (p *progress) summary() string {
	if len(p.failed) == 0 {
		return "every step has succeeded"
	}
	return "every step has ended; failed: " + strings.Join(p.failed, ", ")
}
