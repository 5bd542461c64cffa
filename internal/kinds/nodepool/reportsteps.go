// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// maxPipelines is the maximum number of pipelines in a status.
const maxPipelines = 16

// withoutSteps divides an outcome into the part about Activities of pipelines and the rest.
func withoutSteps(done kit.Outcome) (rest, steps kit.Outcome) {
	rest, steps = done, done
	isStep := func(r ensure.Result) bool { return r.Ref.Kind == "Activity" }
	steps.Results = slices.DeleteFunc(slices.Clone(done.Results), func(r ensure.Result) bool { return !isStep(r) })
	rest.Results = slices.DeleteFunc(slices.Clone(done.Results), isStep)
	steps.Held, steps.Err = 0, failed(steps.Results)
	for _, r := range steps.Results {
		if r.Action == ensure.Held {
			steps.Held++
		}
	}
	rest.Held -= steps.Held
	if steps.Err != nil {
		rest.Err = failed(rest.Results)
	}
	return rest, steps
}

// reportSteps reports the pipelines on the nodes of a NodePool.
func reportSteps(set condition.Set, pool *nodesv1.NodePool, d stepDecision, done kit.Outcome) {
	const kind = nodesv1.NodePoolPipelines
	pool.Status.PipelineStatus = pipelineStatus(d.runs)
	s := pool.Status.PipelineStatus
	var blocked *metav1.Condition
	if len(done.Results) > 0 || done.Err != nil { // otherwise the previous condition would look like an obstacle
		blocked = obstacle(set, kind, done)
	}
	switch {
	case pool.Spec.OnJoin == nil && pool.Spec.OnLeave == nil && len(d.runs) == 0:
		set.Remove(kind)
	case d.problem != nil:
		set.False(kind, d.problem.reason, d.problem.message)
	case done.Held > 0 && nodestate.DryRun(pool):
		set.False(kind, nodesv1.ReasonDryRun, "The annotation "+common.DryRunAnnotation+" holds back "+plural(done.Held, "step"))
	case blocked != nil:
		put(set, kind, blocked)
	case s.FailedPipelines > 0:
		reportFailed(set, s, d.runs)
	case len(d.runs) > 0:
		set.True(kind, nodesv1.ReasonRunning, describeRuns(d.runs))
	default:
		set.True(kind, nodesv1.ReasonNoneRunning, "No node joins or leaves")
	}
}

// reportFailed names the first node whose pipeline has failed.
func reportFailed(set condition.Set, s nodesv1.PipelineStatus, runs []pipeline.Run) {
	first := slices.IndexFunc(runs, hasFailed)
	reason, verb := nodesv1.ReasonStepFailed, "join"
	if runs[first].Verdict.State == pipeline.TimedOut {
		reason = nodesv1.ReasonPipelineTimedOut
	}
	if phaseOf(runs[first]) == nodesv1.PipelineLeaving {
		verb = "leave"
	}
	message := fmt.Sprintf("Node %s cannot %s: %s", runs[first].Node.Name, verb, runs[first].Verdict.Message)
	if more := int(s.FailedPipelines) - 1; more > 0 {
		message += fmt.Sprintf("; and %s more, see status.pipelines", plural(more, "node"))
	}
	set.False(nodesv1.NodePoolPipelines, reason, message)
}

// describeRuns names the nodes that join or leave.
func describeRuns(runs []pipeline.Run) string {
	var text []string
	for _, phase := range []nodesv1.PipelinePhase{nodesv1.PipelineJoining, nodesv1.PipelineLeaving} {
		var names []string
		for _, r := range runs {
			if phaseOf(r) == phase {
				names = append(names, r.Node.Name)
			}
		}
		if len(names) > 0 {
			text = append(text, string(phase)+": "+countNodes(names))
		}
	}
	return strings.Join(text, "; ")
}

func hasFailed(r pipeline.Run) bool {
	return r.Verdict.State == pipeline.Failed || r.Verdict.State == pipeline.TimedOut
}

func phaseOf(r pipeline.Run) nodesv1.PipelinePhase {
	if r.Mark.Phase == nodestate.Leaving {
		return nodesv1.PipelineLeaving
	}
	return nodesv1.PipelineJoining
}

// pipelineStatus counts the pipelines, and shows the first of them; those that have failed come first.
func pipelineStatus(runs []pipeline.Run) nodesv1.PipelineStatus {
	s := nodesv1.PipelineStatus{}
	for _, r := range runs {
		if phaseOf(r) == nodesv1.PipelineJoining {
			s.JoiningNodes++
		} else {
			s.LeavingNodes++
		}
		if hasFailed(r) {
			s.FailedPipelines++
		}
		s.Pipelines = append(s.Pipelines, nodesv1.NodePipeline{
			Node: r.Node.Name, Phase: phaseOf(r), Failed: hasFailed(r), Step: r.Verdict.Step, Attempt: int32(r.Verdict.Attempt),
			Activity: r.Verdict.Activity, Message: condition.Cut(r.Verdict.Message, 4*nodestate.MaxValue),
		})
	}
	slices.SortStableFunc(s.Pipelines, func(a, b nodesv1.NodePipeline) int { return cmp.Compare(order(a), order(b)) })
	s.Pipelines = slices.Clip(s.Pipelines[:min(len(s.Pipelines), maxPipelines)])
	return s
}

func order(p nodesv1.NodePipeline) int {
	if p.Failed {
		return 0
	}
	return 1
}
