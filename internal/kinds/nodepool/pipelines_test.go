// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// preparing returns a NodePool with spec.onJoin, whose requester is recorded.
func preparing(options ...pooltest.PoolOption) *nodesv1.NodePool {
	pool := pooltest.Pool("gold")
	pool.Annotations = map[string]string{common.RequesterAnnotation: `{"username":"ada"}`}
	pool.Spec.OnJoin = &nodesv1.Pipeline{Steps: []nodesv1.Step{{Name: "a", Template: nodesv1.ActivityTemplate{Command: "true"}}}}
	for _, o := range options {
		o(pool)
	}
	return pool
}

// joiningNodes returns n nodes that have just begun to join a pool.
func joiningNodes(t *testing.T, pool *nodesv1.NodePool, n int) []*corev1.Node {
	t.Helper()
	thawed := preparing()
	thawed.Spec = pool.Spec
	nodes := make([]*corev1.Node, n)
	for i := range nodes {
		nodes[i] = pooltest.Node(fmt.Sprintf("n%02d", i), pooltest.Role("gold"))
		plan := planNodeAt(nodes[i], nodeFacts{pools: []*nodesv1.NodePool{thawed}}, pooltest.SomeTime.Time)
		nodes[i] = pooltest.Applied(t, nodes[i], plan.Patches[0].Data)
	}
	return nodes
}

// stepsOf returns the facts about the pipelines on nodes. Every policy is in force.
func stepsOf(pool *nodesv1.NodePool, nodes []*corev1.Node, activities ...*egov1.Activity) stepFacts {
	return stepFacts{installed: true, vouched: true, activities: activities, runs: pipeline.Runs(pool, nodes, activities, pooltest.SomeTime.Time)}
}

func TestAStepStartsOnlyIfItsRequesterIsKnown(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*nodesv1.NodePool, *stepFacts)
		reason string
		starts int
	}{
		"as it should be":               {func(*nodesv1.NodePool, *stepFacts) {}, "", 1},
		"Activity is not installed":     {func(_ *nodesv1.NodePool, f *stepFacts) { f.installed = false }, nodesv1.ReasonActivityMissing, 0},
		"the requester is not recorded": {func(p *nodesv1.NodePool, _ *stepFacts) { p.Annotations = nil }, common.ReasonRequesterUnknown, 0},
		"the record is not valid":       {func(p *nodesv1.NodePool, _ *stepFacts) { p.Annotations[common.RequesterAnnotation] = "ada" }, common.ReasonRequesterUnknown, 0},
		"the policy is not in force":    {func(_ *nodesv1.NodePool, f *stepFacts) { f.vouched = false }, nodesv1.ReasonPolicyMissing, 0},
		"no step starts, and no policy": {func(_ *nodesv1.NodePool, f *stepFacts) { f.vouched, f.runs = false, nil }, "", 0},
		"in dry run, the loop holds it": {func(p *nodesv1.NodePool, f *stepFacts) {
			f.vouched = false
			p.Annotations[common.DryRunAnnotation] = "true"
		}, "", 1},
		"deleted, and without the pipeline": {func(p *nodesv1.NodePool, f *stepFacts) { p.Spec.OnJoin = nil; f.runs = nil }, "", 0},
	} {
		pool := preparing()
		f := stepsOf(pool, joiningNodes(t, pool, 1))
		test.change(pool, &f)
		d := decideSteps(pool, f)
		plan := kit.Plan{}
		d.plan(&plan)
		reason := ""
		if d.problem != nil {
			reason = d.problem.reason
		}
		if reason != test.reason || len(plan.Children) != test.starts {
			t.Errorf("%s: expected reason %q and %d steps, got %q and %d", name, test.reason, test.starts, reason, len(plan.Children))
		}
	}
}

func TestTheStatusShowsFailedPipelinesFirstAndIsLimited(t *testing.T) {
	pool := preparing()
	nodes := joiningNodes(t, pool, 20)
	f := stepsOf(pool, nodes)
	f.runs[18].Verdict = pipeline.Verdict{State: pipeline.Failed, Step: "a", Attempt: 1, Message: strings.Repeat("ä", 1000)}
	s := pipelineStatus(f.runs)
	if s.JoiningNodes != 20 || s.FailedPipelines != 1 || len(s.Pipelines) != maxPipelines || s.Pipelines[0].Node != "n18" || s.Pipelines[1].Node != "n00" {
		t.Errorf("expected 20 nodes, 16 examples, and the failed one first, got %+v", s)
	}
	if got := s.Pipelines[0].Message; len(got) > 4*nodestate.MaxValue || strings.Trim(got, "ä") != "..." {
		t.Errorf("expected the message to be cut between two letters and to show that, got %d bytes: %s", len(got), got)
	}
}

func TestPipelinesAreReported(t *testing.T) {
	activity := ensure.Ref{GroupVersionKind: schema.GroupVersionKind{Group: "ego.example.com", Version: "v1", Kind: "Activity"}, ObjectKey: client.ObjectKey{Namespace: "opcrew-activities", Name: "a"}}
	failed := func(state pipeline.State) func(*nodesv1.NodePool, *stepFacts, *kit.Outcome) {
		return func(_ *nodesv1.NodePool, f *stepFacts, _ *kit.Outcome) {
			f.runs[0].Verdict = pipeline.Verdict{State: state, Message: "step a has failed"}
		}
	}
	for name, test := range map[string]struct {
		change func(*nodesv1.NodePool, *stepFacts, *kit.Outcome)
		want   string
		words  string
	}{
		"nodes join":    {func(*nodesv1.NodePool, *stepFacts, *kit.Outcome) {}, "True Running", "Joining: 2 nodes (n00, n01)"},
		"no node joins": {func(_ *nodesv1.NodePool, f *stepFacts, _ *kit.Outcome) { f.runs = nil }, "True NoneRunning", "No node joins or leaves"},
		"no pipeline":   {func(p *nodesv1.NodePool, f *stepFacts, _ *kit.Outcome) { p.Spec.OnJoin, f.runs = nil, nil }, "", ""},
		"a step failed": {failed(pipeline.Failed), "False StepFailed", "Node n00 cannot join: step a has failed"},
		"it timed out":  {failed(pipeline.TimedOut), "False PipelineTimedOut", "Node n00 cannot join: step a has failed"},
		"no policy":     {func(_ *nodesv1.NodePool, f *stepFacts, _ *kit.Outcome) { f.vouched = false }, "False PolicyMissing", "opcrew-nodepool-rights"},
		"a write refused": {func(_ *nodesv1.NodePool, _ *stepFacts, o *kit.Outcome) {
			o.Err = errors.New("no quota")
			o.Results = []ensure.Result{{Ref: activity, Err: o.Err}}
		}, "Unknown Applying", "no quota"},
		"a dry run": {func(p *nodesv1.NodePool, _ *stepFacts, o *kit.Outcome) {
			p.Annotations[common.DryRunAnnotation] = "true"
			o.Held, o.Results = 1, []ensure.Result{{Ref: activity, Action: ensure.Held}}
		}, "False DryRun", "holds back 1 step"},
		"a name that is taken": {func(_ *nodesv1.NodePool, _ *stepFacts, o *kit.Outcome) {
			o.Results = []ensure.Result{{Ref: activity, Action: ensure.Taken, Message: "it is taken"}}
		}, "False NameTaken", "it is taken"},
	} {
		pool := preparing()
		nodes := joiningNodes(t, pool, 2)
		f := factsOf(pool, []*nodesv1.NodePool{pool}, nodes...)
		f.steps = stepsOf(pool, nodes)
		done := kit.Outcome{}
		test.change(pool, &f.steps, &done)
		reportAt(pool, f, done, pooltest.SomeTime.Time)
		c := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolPipelines)
		if c == nil {
			c = &metav1.Condition{}
		}
		if got := strings.TrimSpace(string(c.Status) + " " + c.Reason); got != test.want || !strings.Contains(c.Message, test.words) {
			t.Errorf("%s: expected %q with %q, got %q: %s", name, test.want, test.words, got, c.Message)
		}
		if class := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolRuntimeClassReady); class != nil && strings.Contains(class.Message, test.words) && test.words != "" {
			t.Errorf("%s: expected condition RuntimeClassReady to be about the RuntimeClass, got %s", name, class.Message)
		}
	}
}

func TestEventsShowTheBeginAndTheEndOfAPipeline(t *testing.T) {
	pool := preparing(func(p *nodesv1.NodePool) { p.Spec.OnLeave = p.Spec.OnJoin })
	reasons := func(node *corev1.Node, activities ...*egov1.Activity) (string, *corev1.Node) {
		plan := planNodeAt(node, nodeFacts{pools: []*nodesv1.NodePool{pool}, activities: activities}, pooltest.SomeTime.Time)
		out := []string{}
		for _, e := range plan.Events {
			out = append(out, e.Reason+": "+e.Note)
		}
		return strings.Join(out, "\n"), pooltest.Applied(t, node, plan.Patches[0].Data)
	}
	succeeded := func(node *corev1.Node) *egov1.Activity {
		a := &egov1.Activity{}
		a.Name = pipeline.Runs(pool, []*corev1.Node{node}, nil, pooltest.SomeTime.Time)[0].Verdict.Activity
		a.Labels = map[string]string{common.OwnerLabel: string(pool.UID)}
		a.Status.Prosta = egov1.StateSucceeded
		return a
	}
	node := pooltest.Node("n", pooltest.Role("gold"))
	events, node := reasons(node)
	expect := func(want string) {
		t.Helper()
		if !strings.HasPrefix(events, want) {
			t.Errorf("expected an event that begins with %q, got %q", want, events)
		}
	}
	expect("JoiningNodePool: The node joins NodePool gold")
	events, node = reasons(node, succeeded(node))
	expect("JoinedNodePool: The node is now a member of NodePool gold and has the labels, taints and annotations of the pool; pipeline: every step has succeeded")
	pooltest.LacksRole("gold")(node)
	events, node = reasons(node)
	expect("LeavingNodePool: The node leaves NodePool gold")
	events, _ = reasons(node, succeeded(node))
	expect("LeftNodePool: The node is no longer a member of NodePool gold")
}
