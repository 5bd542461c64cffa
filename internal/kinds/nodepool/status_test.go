// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// reportedAfter returns the status of a NodePool for the given facts and outcome.
func reportedAfter(pool *nodesv1.NodePool, f facts, done kit.Outcome) nodesv1.NodePoolStatus {
	p := pool.DeepCopy()
	reportAt(p, f, done, pooltest.SomeTime.Time)
	return p.Status
}

// reported returns the status of a NodePool whose RuntimeClass is up to date.
func reported(pool *nodesv1.NodePool, f facts) nodesv1.NodePoolStatus {
	f.class = &nodev1.RuntimeClass{Handler: "runc"}
	return reportedAfter(pool, f, results(ensure.Unchanged, ""))
}

func results(action ensure.Action, message string) kit.Outcome {
	return kit.Outcome{Results: []ensure.Result{{Action: action, Message: message}}}
}

func conditionOf(status nodesv1.NodePoolStatus, kind string) metav1.Condition {
	for _, c := range status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

func short(c metav1.Condition) string { return string(c.Status) + " " + c.Reason }

func TestTheStatusOfTypicalPools(t *testing.T) {
	roomy := []pooltest.NodeOption{pooltest.OffersHandlers("", "runc"), pooltest.HasSize("8", "32Gi")}
	full := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule))
	with := func(options ...pooltest.NodeOption) []pooltest.NodeOption { return append(options, roomy...) }
	for file, c := range map[string]struct {
		pool  *nodesv1.NodePool
		pools []*nodesv1.NodePool
		nodes []*corev1.Node
	}{
		"status-as-wanted.yaml": {full, []*nodesv1.NodePool{full}, []*corev1.Node{
			settled(t, pooltest.Node("n1", with(pooltest.Role("gold"))...), full), settled(t, pooltest.Node("n2", with(pooltest.Role("gold"), pooltest.IsCordoned, pooltest.IsNotReady)...), full), pooltest.Node("outside", with()...),
		}},
		"status-no-nodes.yaml":                    {full, []*nodesv1.NodePool{full}, nil},
		"status-updating.yaml":                    {full, []*nodesv1.NodePool{full}, []*corev1.Node{settled(t, pooltest.Node("n1", with(pooltest.Role("gold"))...), full), pooltest.Node("n2", with(pooltest.Role("gold"))...)}},
		"status-conflict-with-another-owner.yaml": {full, []*nodesv1.NodePool{full}, []*corev1.Node{settled(t, pooltest.Node("n1", with(pooltest.Role("gold"), pooltest.HasLabel("tier", "brass"))...), full)}},
		"status-dry-run.yaml":                     {pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsLabel("tier", "gold")), nil, []*corev1.Node{pooltest.Node("n1", with(pooltest.Role("gold"))...)}},
	} {
		t.Run(file, func(t *testing.T) {
			pools := c.pools
			if pools == nil {
				pools = []*nodesv1.NodePool{c.pool}
			}
			golden.Check(t, file, reported(c.pool, factsOf(c.pool, pools, c.nodes...)))
		})
	}
}

func TestTheStatusOfTheArticlesPoolsOnOneNode(t *testing.T) {
	pools := pooltest.ArticlePools(t, "testdata/nodepool.yaml")
	node := settled(t, pooltest.Node("node1", pooltest.Role("test"), pooltest.Role("master"), pooltest.OffersHandlers("runc"), pooltest.HasSize("4", "8Gi")), pools...)
	for _, pool := range pools {
		golden.Check(t, "status-article-shared-"+pool.Name+".yaml", reported(pool, factsOf(pool, pools, node)))
	}
}

// Regression: the numbers in the status were outdated after nodes were created or deleted, or if no node was left.
func TestNodesAreCounted(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"))
	old := nodesv1.NodePoolStatus{NodeCount: 9, ReadyNodes: 9, CordonedNodes: 9, UpdatedNodes: 9, Allocatable: corev1.ResourceList{"cpu": pooltest.Quantity("9")}}
	pools := []*nodesv1.NodePool{gold}
	for name, c := range map[string]struct {
		nodes []*corev1.Node
		want  nodesv1.NodePoolStatus
	}{
		"none":              {nil, nodesv1.NodePoolStatus{}},
		"none that belongs": {[]*corev1.Node{pooltest.Node("a", pooltest.HasSize("1", "1Gi")), pooltest.Node("b", pooltest.Role("other"))}, nodesv1.NodePoolStatus{}},
		"not one that has left and is not clean yet": {
			[]*corev1.Node{func() *corev1.Node {
				n := settled(t, pooltest.Node("a", pooltest.Role("gold"), pooltest.HasSize("1", "1Gi")), gold)
				pooltest.LacksRole("gold")(n)
				return n
			}()}, nodesv1.NodePoolStatus{},
		},
		"by readiness, cordon and progress, with the sum of what they offer": {
			[]*corev1.Node{
				settled(t, pooltest.Node("a", pooltest.Role("gold"), pooltest.HasSize("1500m", "1Gi")), gold),
				settled(t, pooltest.Node("b", pooltest.Role("gold"), pooltest.HasSize("2", "1Gi"), pooltest.IsNotReady), gold),
				pooltest.Node("c", pooltest.Role("gold"), pooltest.HasSize("500m", "512Mi"), pooltest.IsCordoned),
				pooltest.Node("d", pooltest.Role("gold"), func(n *corev1.Node) { n.Status.Conditions = nil }),
			},
			nodesv1.NodePoolStatus{NodeCount: 4, ReadyNodes: 2, CordonedNodes: 1, UpdatedNodes: 2, Allocatable: corev1.ResourceList{"cpu": pooltest.Quantity("4"), "memory": pooltest.Quantity("2560Mi")}},
		},
		"a node in conflict as updated: there is nothing left to do": {
			[]*corev1.Node{settled(t, pooltest.Node("a", pooltest.Role("gold"), pooltest.HasLabel("tier", "brass")), gold)},
			nodesv1.NodePoolStatus{NodeCount: 1, ReadyNodes: 1, UpdatedNodes: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := old.DeepCopy()
			count(got, factsOf(gold, pools, c.nodes...).nodes)
			pooltest.Same(t, "the numbers", c.want, *got)
		})
	}
}

func TestRuntimeClassReadySaysWhy(t *testing.T) {
	there := facts{class: &nodev1.RuntimeClass{Handler: "runc"}}
	resource := schema.GroupResource{Group: "node.k8s.io", Resource: "runtimeclasses"}
	for name, c := range map[string]struct {
		pool    *nodesv1.NodePool
		facts   facts
		done    kit.Outcome
		want    string
		message string
	}{
		"in place":                        {facts: there, done: results(ensure.Unchanged, ""), want: "True AsDeclared"},
		"just made":                       {done: results(ensure.Created, ""), want: "True AsDeclared"},
		"just repaired":                   {facts: there, done: results(ensure.Repaired, ""), want: "True AsDeclared"},
		"being replaced":                  {facts: there, done: results(ensure.Replaced, ""), want: "False Applying"},
		"the name is taken":               {done: results(ensure.Taken, "it is another owner's"), want: "False NameTaken", message: "it is another owner's"},
		"another manager changes it back": {facts: there, done: results(ensure.Contested, "kubectl does"), want: "False Contested", message: "kubectl does"},
		"the server refuses it":           {done: kit.Outcome{Err: apierrors.NewForbidden(resource, "gold", errors.New("policy says no"))}, want: "False Refused", message: "policy says no"},
		"the server is in trouble":        {done: kit.Outcome{Err: apierrors.NewInternalError(errors.New("etcd is down"))}, want: "Unknown Applying", message: "etcd is down"},
		"held back by a pause":            {pool: pooltest.Pool("gold", pooltest.IsPaused()), facts: there, done: kit.Outcome{Held: 1, Paused: true, Results: results(ensure.Held, "").Results}, want: "False Paused", message: "opcrew.io/paused"},
		"held back by a dry run":          {pool: pooltest.Pool("gold", pooltest.InDryRun()), facts: there, done: kit.Outcome{Held: 1, Results: results(ensure.Held, "").Results}, want: "False DryRun", message: "opcrew.io/dry-run"},
		"a new pool in dry run has none":  {pool: pooltest.Pool("gold", pooltest.InDryRun()), done: kit.Outcome{Held: 1}, want: "False DryRun", message: "held back"},
	} {
		t.Run(name, func(t *testing.T) {
			pool := c.pool
			if pool == nil {
				pool = pooltest.Pool("gold")
			}
			got := conditionOf(reportedAfter(pool, c.facts, c.done), nodesv1.NodePoolRuntimeClassReady)
			pooltest.Same(t, "the condition", c.want, short(got))
			if !strings.Contains(got.Message, c.message) {
				t.Errorf("expected the message to have %q, got %q", c.message, got.Message)
			}
		})
	}
}

func TestNodesUpdatedSaysWhy(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "gold", pooltest.NoExecute))
	for name, c := range map[string]struct {
		nodes    []*corev1.Node
		refusals map[string]string
		want     string
		message  string
	}{
		"all done":         {nodes: []*corev1.Node{settled(t, pooltest.Node("a", pooltest.Role("gold")), gold)}, want: "True AsWanted"},
		"none there":       {want: "True AsWanted"},
		"some still to do": {nodes: []*corev1.Node{pooltest.Node("b", pooltest.Role("gold")), pooltest.Node("a", pooltest.Role("gold"))}, want: "False Updating", message: "opcrew is changing 2 nodes (a, b)"},
		"some refused": {
			nodes:    []*corev1.Node{pooltest.Node("b", pooltest.Role("gold")), pooltest.Node("a", pooltest.Role("gold")), pooltest.Node("c", pooltest.Role("gold"))},
			refusals: map[string]string{"b": "webhook says no", "c": "webhook says never", "elsewhere": "?"},
			want:     "False NodeRefused", message: "2 nodes (b, c) cannot be changed; node b: webhook says no",
		},
		"one that cannot be cleaned": {
			nodes: []*corev1.Node{func() *corev1.Node {
				n := settled(t, pooltest.Node("a", pooltest.Role("gold")), gold)
				pooltest.LacksRole("gold")(n)
				return n
			}()}, refusals: map[string]string{"a": "no"}, want: "False NodeRefused", message: "1 node (a) cannot be changed; node a: no",
		},
		"a NoExecute taint is withheld": {
			nodes: []*corev1.Node{settled(t, pooltest.Node("a", pooltest.Role("gold"), pooltest.Role("control-plane")), gold)},
			want:  "False ControlPlaneProtected", message: "does not set NoExecute taints on 1 node (a) of the control plane, because they would evict pods there; set spec.allowNoExecuteOnControlPlane",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := factsOf(gold, []*nodesv1.NodePool{gold}, c.nodes...)
			f.refusals = c.refusals
			got := conditionOf(reported(gold, f), nodesv1.NodePoolNodesUpdated)
			pooltest.Same(t, "the condition", c.want, short(got))
			if !strings.Contains(got.Message, c.message) {
				t.Errorf("expected the message to have %q, got %q", c.message, got.Message)
			}
		})
	}
}

func TestHandlerAvailableSaysWhere(t *testing.T) {
	kata := pooltest.Pool("kata", func(p *nodesv1.NodePool) { p.Spec.Handler = "kata" })
	for name, c := range map[string]struct {
		nodes   []*corev1.Node
		want    string
		message string
	}{
		"every node offers it":    {[]*corev1.Node{pooltest.Node("a", pooltest.Role("kata"), pooltest.OffersHandlers("runc", "kata"))}, "True HandlerOffered", `"kata"`},
		"no node to ask":          {nil, "True HandlerOffered", ""},
		"a node outside lacks it": {[]*corev1.Node{pooltest.Node("a", pooltest.OffersHandlers("runc"))}, "True HandlerOffered", ""},
		"a node does not report":  {[]*corev1.Node{pooltest.Node("a", pooltest.Role("kata")), pooltest.Node("b", pooltest.Role("kata"), pooltest.OffersHandlers("kata"))}, "Unknown HandlerNotReported", "1 node (a)"},
		"a node lacks it":         {[]*corev1.Node{pooltest.Node("a", pooltest.Role("kata")), pooltest.Node("b", pooltest.Role("kata"), pooltest.OffersHandlers("runc"))}, "False HandlerMissing", `1 node (b) has no handler "kata"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := conditionOf(reported(kata, factsOf(kata, []*nodesv1.NodePool{kata}, c.nodes...)), nodesv1.NodePoolHandlerAvailable)
			pooltest.Same(t, "the condition", c.want, short(got))
			if !strings.Contains(got.Message, c.message) {
				t.Errorf("expected the message to have %q, got %q", c.message, got.Message)
			}
		})
	}
}

// Ready must report the first blocking cause, in a fixed order.
func TestReadyNamesTheFirstBlockingCause(t *testing.T) {
	pool := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), func(p *nodesv1.NodePool) { p.Spec.Handler = "kata" })
	pools := []*nodesv1.NodePool{pool}
	there := results(ensure.Unchanged, "")
	for _, c := range []struct {
		cured string
		nodes []*corev1.Node
		done  kit.Outcome
		want  string
	}{
		{"nothing", []*corev1.Node{pooltest.Node("a", pooltest.Role("gold"), pooltest.OffersHandlers("runc"), pooltest.HasLabel("tier", "brass")), pooltest.Node("b", pooltest.Role("gold"))}, results(ensure.Taken, ""), "False NameTaken"},
		{"the RuntimeClass", []*corev1.Node{pooltest.Node("a", pooltest.Role("gold"), pooltest.OffersHandlers("runc"), pooltest.HasLabel("tier", "brass")), pooltest.Node("b", pooltest.Role("gold"))}, there, "True HeldByOthers"},
		{"and the conflict", []*corev1.Node{pooltest.Node("a", pooltest.Role("gold"), pooltest.OffersHandlers("runc")), pooltest.Node("b", pooltest.Role("gold"))}, there, "False Updating"},
		{"and the nodes", []*corev1.Node{settled(t, pooltest.Node("a", pooltest.Role("gold"), pooltest.OffersHandlers("runc")), pool)}, there, "False HandlerMissing"},
		{"and the handler, as far as is known", []*corev1.Node{settled(t, pooltest.Node("a", pooltest.Role("gold")), pool)}, there, "True AsWanted"},
		{"and there is no node", nil, there, "True NoNodes"},
	} {
		t.Run("cured: "+c.cured, func(t *testing.T) {
			f := factsOf(pool, pools, c.nodes...)
			f.class = &nodev1.RuntimeClass{Handler: "runc"}
			status := reportedAfter(pool, f, c.done)
			ready := conditionOf(status, nodesv1.NodePoolReady)
			_, reason, _ := strings.Cut(c.want, " ")
			wantStatus, wantNumber := metav1.ConditionFalse, int32(503)
			if reason == "AsWanted" || reason == "NoNodes" {
				wantStatus, wantNumber = metav1.ConditionTrue, 200
			}
			if ready.Reason != reason || ready.Status != wantStatus || status.Status != wantNumber {
				t.Errorf("expected Ready=%s because of %s and status %d, got %s and %d: %s", wantStatus, reason, wantNumber, short(ready), status.Status, ready.Message)
			}
		})
	}
}

func TestReadyNamesWhatIsInTheWay(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"))
	node := pooltest.Node("a", pooltest.Role("gold"), pooltest.IsCordoned, pooltest.OffersHandlers("runc"))
	update := func(p *nodesv1.NodePool, options ...pooltest.PoolOption) *nodesv1.NodePool {
		p = p.DeepCopy()
		for _, option := range options {
			option(p)
		}
		return p
	}
	refused := map[string]string{"a": "webhook says no"}
	for name, c := range map[string]struct {
		pool     *nodesv1.NodePool
		nodes    []*corev1.Node
		refusals map[string]string
		held     int
		want     string
		message  string
	}{
		"as wanted": {gold, []*corev1.Node{settled(t, node, gold)}, nil, 0, "True AsWanted", "1 node up to date, 1 ready, 1 cordoned"},
		"no node":   {gold, nil, nil, 0, "True NoNodes", "label a node with node-role.kubernetes.io/gold="},
		"a remediation that takes no effect": {
			update(gold, func(p *nodesv1.NodePool) { p.Spec.Remediation = &nodesv1.Remediation{} }), []*corev1.Node{settled(t, node, gold)}, nil, 0,
			"True AsWanted", "1 node up to date, 1 ready, 1 cordoned, but see condition Remediation",
		},
		"dry run": {
			pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsLabel("tier", "gold")), []*corev1.Node{node}, nil, 1,
			"False DryRun", "holds back changes that would affect 1 node and evict 0 pods, as status.preview shows; first change: apply RuntimeClass gold",
		},
		"dry run of what is there": {pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsLabel("tier", "gold")), []*corev1.Node{settled(t, node, gold)}, nil, 0, "True AsWanted", ""},
		// A pause also holds back changes of nodes. The outcome of the NodePool's reconcile does not count them,
		// because another reconciler changes nodes.
		"paused with changes that wait": {
			pooltest.Pool("gold", pooltest.IsPaused(), pooltest.WantsLabel("tier", "gold"), pooltest.WantsAnnotation("note", "x")), []*corev1.Node{settled(t, node, gold)}, nil, 0,
			"False Paused", "holds back changes to 1 node; the first change: add annotation note=x on 1 node (a)",
		},
		"paused and as wanted": {pooltest.Pool("gold", pooltest.IsPaused(), pooltest.WantsLabel("tier", "gold")), []*corev1.Node{settled(t, node, gold)}, nil, 0, "True AsWanted", ""},
		"going away":           {update(gold, pooltest.BeingDeleted), []*corev1.Node{settled(t, node, gold)}, nil, 0, "False Deleting", "opcrew is removing the settings of the pool from 1 node"},
		"going away, and a node refuses": {
			update(gold, pooltest.BeingDeleted), []*corev1.Node{settled(t, node, gold)}, refused, 0,
			"False Deleting", "from 1 node; 1 node (a) cannot be changed; node a: webhook says no",
		},
		"going away while paused": {
			update(gold, pooltest.BeingDeleted, pooltest.IsPaused()), []*corev1.Node{settled(t, node, gold)}, nil, 0,
			"False Deleting", "opcrew.io/paused pauses the deletion: the settings of the pool stay on 1 node until the annotation is removed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := factsOf(c.pool, []*nodesv1.NodePool{c.pool}, c.nodes...)
			f.class, f.refusals = &nodev1.RuntimeClass{Handler: "runc"}, c.refusals
			if c.pool.DeletionTimestamp == nil && nodestate.Frozen(c.pool) {
				f.preview = membersOf(c.pool.Name, thaw(c.pool, f.pools), nodesOf(c.nodes))
			}
			done := results(ensure.Unchanged, "")
			done.Held = c.held
			status := reportedAfter(c.pool, f, done)
			got := conditionOf(status, nodesv1.NodePoolReady)
			pooltest.Same(t, "Ready", c.want, short(got))
			if !strings.Contains(got.Message, c.message) {
				t.Errorf("expected the message to have %q, got %q", c.message, got.Message)
			}
			if wantPreview := nodestate.DryRun(c.pool); (status.Preview != nil) != wantPreview {
				t.Errorf("expected a preview in the status: %t, got %v", wantPreview, status.Preview)
			}
		})
	}
}

func TestAPreviewGoesWithTheDryRun(t *testing.T) {
	gold := pooltest.Pool("gold")
	gold.Status.Preview = &nodesv1.Preview{NodeCount: 1}
	if got := reported(gold, facts{}); got.Preview != nil {
		t.Errorf("expected no preview without a dry run, got %v", got.Preview)
	}
}

// A second report of the same facts must not change the status, because that would cause a write.
func TestTheSameFactsGiveTheSameStatus(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsLabel("zone", "a"))
	var nodes []*corev1.Node
	for i := range 30 {
		nodes = append(nodes, pooltest.Node(fmt.Sprintf("n%02d", i), pooltest.Role("gold"), pooltest.HasLabel("tier", fmt.Sprint(i)), pooltest.HasSize("1", "1Gi")))
	}
	pool := gold.DeepCopy()
	pool.Status = reported(gold, factsOf(gold, []*nodesv1.NodePool{gold}, nodes...))
	for range 10 {
		later := pool.DeepCopy()
		nodes = slices.Concat(nodes[7:], nodes[:7])
		f := factsOf(gold, []*nodesv1.NodePool{gold}, nodes...)
		f.class = &nodev1.RuntimeClass{Handler: "runc"}
		reportAt(later, f, results(ensure.Unchanged, ""), pooltest.SomeTime.Add(time.Hour))
		pooltest.Same(t, "the status an hour later", pool.Status, later.Status)
	}
}

func TestAStatusStaysSmallAtFiveThousandNodes(t *testing.T) {
	var wants []pooltest.PoolOption
	for i := range 32 {
		wants = append(wants, pooltest.WantsLabel(fmt.Sprintf("example.com/label-%02d", i), "gold"), pooltest.WantsAnnotation(fmt.Sprintf("example.com/note-%02d", i), strings.Repeat("x", 4096)))
	}
	gold := pooltest.Pool("gold", append(wants, pooltest.InDryRun(), pooltest.WantsTaint("only", "gold", pooltest.NoExecute))...)
	nodes := make([]*corev1.Node, 5000)
	pods := make([]corev1.Pod, 5000)
	refusals := map[string]string{}
	for i := range nodes {
		name := fmt.Sprintf("a-rather-long-name-of-a-node-in-some-cloud-%04d.example.com", i)
		nodes[i] = pooltest.Node(name, pooltest.Role("gold"), pooltest.HasSize("64", "256Gi"), pooltest.HasLabel(fmt.Sprintf("example.com/label-%02d", i%32), "brass"), pooltest.HasAnnotation(fmt.Sprintf("example.com/note-%02d", i%32), strings.Repeat("y", 4096)))
		pods[i] = newPod(fmt.Sprintf("pod-%04d", i), name)
		refusals[name] = strings.Repeat("no ", 1000)
	}
	for name, pool := range map[string]*nodesv1.NodePool{"dry run": gold, "at work": pooltest.Pool("gold", wants...)} {
		t.Run(name, func(t *testing.T) {
			f := factsOf(pool, []*nodesv1.NodePool{pool}, nodes...)
			f.pods, f.refusals = pods[:100], refusals
			status := reported(pool, f)
			if status.NodeCount != 5000 && name == "at work" {
				t.Errorf("expected 5000 nodes to be counted, got %d", status.NodeCount)
			}
			raw, err := json.Marshal(status)
			if err != nil {
				t.Fatal(err)
			}
			if len(raw) > 32<<10 {
				t.Errorf("expected a status of at most 32 KiB, got %d bytes:\n%.2000s", len(raw), raw)
			}
		})
	}
}

func TestTheGoneHandlerFieldOfThePoolMeansRunc(t *testing.T) {
	pool := pooltest.Pool("gold", func(p *nodesv1.NodePool) { p.Spec.Handler = "" })
	got := conditionOf(reported(pool, factsOf(pool, []*nodesv1.NodePool{pool}, pooltest.Node("a", pooltest.Role("gold"), pooltest.OffersHandlers("runc")))), nodesv1.NodePoolHandlerAvailable)
	pooltest.Same(t, "HandlerAvailable", "True HandlerOffered", short(got))
}
