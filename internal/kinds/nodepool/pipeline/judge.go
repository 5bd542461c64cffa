// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// retryWait is the time between the end of a failed step and its repetition.
const retryWait = 10 * time.Second

// State is the state of a pipeline.
type State string

// Values of State. Failed and TimedOut wait for a user, or, if the node leaves, for the timeout. Done lets the node
// join or leave, also if steps have failed.
const (
	Waiting  State = "Waiting"
	Running  State = "Running"
	Failed   State = "Failed"
	TimedOut State = "TimedOut"
	Done     State = "Done"
)

// Verdict is the state of a pipeline on a node.
type Verdict struct {
	State State
	// Step and Attempt are the current step, or the one that has failed, and how often it was started.
	Step     string
	Attempt  int
	Activity string
	Message  string
	// Starts is true if the Activity with this name should be created now.
	Starts bool
	// Cancels is true if Activities of the pipeline that have not ended should be cancelled.
	Cancels bool
	Again   time.Duration
}

// rule returns a verdict, or false if it does not apply.
type rule func(Input, *progress) (Verdict, bool)

// rules are in the order in which they apply.
var rules = []rule{replaced, late, occupied, busy, failed, repeated, unreachable, due}

// Judge returns the state of a pipeline whose node joins or leaves.
func Judge(in Input) Verdict {
	p := &progress{}
	if in.current() {
		p = in.progress()
	}
	for _, r := range rules {
		if v, ok := r(in, p); ok {
			return v
		}
	}
	return Verdict{State: Done, Message: p.summary()}
}

// replaced applies if the pipeline has changed, and the node does not record the new one yet.
func replaced(in Input, _ *progress) (Verdict, bool) {
	return Verdict{State: Waiting, Message: "the pipeline has changed, and starts again"}, !in.current()
}

// late applies when the time of the pipeline has passed and steps are left. A node that leaves must not wait longer.
func late(in Input, p *progress) (Verdict, bool) {
	if p.open == nil || in.Now.Before(in.deadline()) {
		return Verdict{}, false
	}
	v := p.verdict(TimedOut)
	v.Cancels = true
	v.Message = fmt.Sprintf("the pipeline has not ended within %s: %s", in.deadline().Sub(in.Mark.Since), p.describe())
	if in.leaving() || !in.blocks() {
		v.State = Done
		return v, true
	}
	v.Message += fmt.Sprintf("; the node keeps the taint %s. To try again, raise spec.onJoin.timeoutSeconds and delete the Activity of the failed step, or change spec.onJoin", nodesv1.JoiningTaint)
	return v, true
}

// occupied applies while a step of an earlier pipeline runs on the node.
func occupied(in Input, p *progress) (Verdict, bool) {
	if p.open == nil || p.earlier == nil {
		return Verdict{}, false
	}
	return Verdict{State: Waiting, Again: in.left(), Activity: p.earlier.Name,
		Message: "Activity " + p.earlier.Name + " of an earlier pipeline has not ended"}, true
}

// busy applies while a step runs.
func busy(in Input, p *progress) (Verdict, bool) {
	if p.active == nil {
		return Verdict{}, false
	}
	v := p.verdict(Running)
	v.Again, v.Message = in.left(), p.describe()
	return v, true
}

// failed applies if a step has failed and has no retry left.
func failed(in Input, p *progress) (Verdict, bool) {
	if p.open == nil || p.last == nil || p.retries() || !in.blocks() {
		return Verdict{}, false
	}
	v := p.verdict(Failed)
	v.Message = p.describe()
	if in.leaving() {
		v.Again = in.left()
		v.Message += "; the node keeps the settings of the pool until " + in.deadline().UTC().Format(time.RFC3339)
		return v, true
	}
	v.Message += fmt.Sprintf("; the node keeps the taint %s. Correct the cause, and delete Activity %s in namespace %s to try the step again, or change spec.onJoin",
		nodesv1.JoiningTaint, v.Activity, Namespace)
	return v, true
}

// repeated applies for a while after a step has failed that is to be repeated.
func repeated(in Input, p *progress) (Verdict, bool) {
	if p.open == nil || p.last == nil || p.last.Status.EndedAt == nil {
		return Verdict{}, false
	}
	wait := p.last.Status.EndedAt.Add(retryWait).Sub(in.Now)
	if wait <= 0 {
		return Verdict{}, false
	}
	v := p.verdict(Waiting)
	v.Again, v.Message = wait, p.describe()+"; it is repeated soon"
	return v, true
}

// unreachable applies if the next step would start on a node that does not respond. An attempt would be in vain.
func unreachable(in Input, p *progress) (Verdict, bool) {
	if p.open == nil || Responds(in.Node) {
		return Verdict{}, false
	}
	v := p.verdict(Waiting)
	v.Again, v.Message = in.left(), "the node does not respond; step "+p.open.Name+" starts when it does"
	return v, true
}

// due applies if a step should start now.
func due(in Input, p *progress) (Verdict, bool) {
	if p.open == nil {
		return Verdict{}, false
	}
	v := p.verdict(Running)
	v.Attempt++
	v.Starts, v.Again = true, in.left()
	v.Activity = in.name(p.open.Name, v.Attempt)
	v.Message = fmt.Sprintf("step %s (%d of %d) starts", p.open.Name, p.index+1, p.count)
	return v, true
}

// left returns the time until the deadline of the pipeline.
func (in Input) left() time.Duration { return max(time.Second, in.deadline().Sub(in.Now)) }

// Responds reports whether the kubelet of a node reports its state. A node that is not Ready may lack only its network,
// which a step may set up.
func Responds(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status != corev1.ConditionUnknown
		}
	}
	return false
}

// explain returns what an Activity reports about itself.
func explain(a *egov1.Activity) string {
	if c := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady); c != nil {
		return c.Message
	}
	return string(a.Status.Prosta)
}
