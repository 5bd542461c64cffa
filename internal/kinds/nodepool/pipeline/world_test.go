// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

// world simulates a node of NodePool gold, and the Activities of its pipelines.
type world struct {
	testing.TB
	pool       *nodesv1.NodePool
	node       *corev1.Node
	activities []*egov1.Activity
	now        time.Time
}

func newWorld(t testing.TB, options ...pooltest.PoolOption) *world {
	pool := pooltest.Pool("gold", options...)
	pool.Annotations = map[string]string{common.RequesterAnnotation: `{"username":"ada","groups":["admins"]}`}
	return &world{TB: t, pool: pool, node: pooltest.Node("n", pooltest.Role("gold")), now: pooltest.SomeTime.Time}
}

func steps(names ...string) *nodesv1.Pipeline {
	p := &nodesv1.Pipeline{}
	for _, name := range names {
		p.Steps = append(p.Steps, nodesv1.Step{Name: name, Template: nodesv1.ActivityTemplate{Command: name}})
	}
	return p
}

func onJoin(names ...string) pooltest.PoolOption {
	return func(p *nodesv1.NodePool) { p.Spec.OnJoin = steps(names...) }
}

func onLeave(names ...string) pooltest.PoolOption {
	return func(p *nodesv1.NodePool) { p.Spec.OnLeave = steps(names...) }
}

func retries(n int32) pooltest.PoolOption {
	return func(p *nodesv1.NodePool) { p.Spec.OnJoin.Steps[0].Retries = n }
}

func policy(policy nodesv1.FailurePolicy) pooltest.PoolOption {
	return func(p *nodesv1.NodePool) {
		for _, pipeline := range []*nodesv1.Pipeline{p.Spec.OnJoin, p.Spec.OnLeave} {
			if pipeline != nil {
				pipeline.FailurePolicy = policy
			}
		}
	}
}

func timeout(seconds int64) pooltest.PoolOption {
	return func(p *nodesv1.NodePool) {
		for _, pipeline := range []*nodesv1.Pipeline{p.Spec.OnJoin, p.Spec.OnLeave} {
			if pipeline != nil {
				pipeline.TimeoutSeconds = new(seconds)
			}
		}
	}
}

// reconcile does what both reconcilers do, and returns the verdict about the pipeline; empty without a pipeline.
func (w *world) reconcile() Verdict {
	w.Helper()
	marks := Marks(w.node, []*nodesv1.NodePool{w.pool}, w.activities, w.now)
	d := nodestate.DesireMarked(w.node, []*nodesv1.NodePool{w.pool}, marks.Marks)
	if patch, needed := nodestate.Patch(w.node, d); needed {
		w.node = pooltest.Applied(w.TB, w.node, patch.Data)
	}
	runs := Runs(w.pool, []*corev1.Node{w.node}, w.activities, w.now)
	if again := Runs(w.pool, []*corev1.Node{w.node}, w.activities, w.now); fmt.Sprint(again) == "" {
		w.Fatal("expected the same decision twice")
	}
	for _, p := range Cancels(runs, w.activities) {
		at := slices.IndexFunc(w.activities, func(a *egov1.Activity) bool { return a.Name == p.Object.GetName() })
		w.activities[at].Spec.Cancel = true
	}
	if len(runs) == 0 {
		return Verdict{}
	}
	if v := runs[0].Verdict; v.Starts {
		w.create(runs[0])
	}
	return runs[0].Verdict
}

// create creates the Activity of a step, as the API server would.
func (w *world) create(r Run) {
	w.Helper()
	content, err := toMap(declare(r.Input, r.Verdict))
	if err != nil {
		w.Fatal(err)
	}
	a := content
	a.UID = types.UID("uid-of-" + a.Name)
	a.Labels[common.OwnerLabel] = string(w.pool.UID)
	a.CreationTimestamp = metav1.NewTime(w.now)
	a.Status.Prosta = egov1.StatePending
	w.activities = append(w.activities, a)
}

// end ends the Activity that has not ended.
func (w *world) end(state egov1.State, message string) {
	w.Helper()
	for _, a := range w.activities {
		if !over(a) {
			a.Status.Prosta, a.Status.EndedAt = state, &metav1.Time{Time: w.now}
			a.Status.Conditions = []metav1.Condition{{Type: egov1.ActivityReady, Message: message}}
			return
		}
	}
	w.Fatal("expected an Activity that has not ended")
}

func (w *world) succeed() {
	w.Helper()
	w.end(egov1.StateSucceeded, "the command ended with exit code 0")
}
func (w *world) fail() { w.Helper(); w.end(egov1.StateFailed, "the command ended with exit code 3") }

func (w *world) change(options ...pooltest.NodeOption) {
	for _, o := range options {
		o(w.node)
	}
}

func (w *world) later(d time.Duration) { w.now = w.now.Add(d) }

// names returns the steps and attempts of all Activities, in the order of their creation.
func (w *world) names() []string {
	var out []string
	for _, a := range w.activities {
		out = append(out, fmt.Sprintf("%s %s %s", a.Labels[PhaseLabel], a.Labels[StepLabel], a.Labels[AttemptLabel]))
	}
	return out
}

func (w *world) phase() nodestate.Phase { return nodestate.LedgerOf(w.node).Marks["gold"].Phase }

func (w *world) tainted() bool { return nodestate.IsJoining(w.node) }

// is fails the test unless the node has a phase, and carries the taint only while it joins.
func (w *world) is(phase nodestate.Phase) {
	w.Helper()
	if got := w.phase(); got != phase || w.tainted() != (phase == nodestate.Joining) {
		w.Fatalf("expected phase %q, and the taint only while the node joins, got %q, tainted: %t", phase, got, w.tainted())
	}
}
