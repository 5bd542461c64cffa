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
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// reportedAfter is the status that a pool gets from facts and from what was done.
func reportedAfter(pool *nodesv1.NodePool, f facts, done kit.Outcome) nodesv1.NodePoolStatus {
	p := pool.DeepCopy()
	(&poolReconciler{}).Report(p, f, done, someTime.Time)
	return p.Status
}

// reported is the status where the RuntimeClass is in place.
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
	roomy := []nodeOption{offersHandlers("", "runc"), hasSize("8", "32Gi")}
	full := newPool("gold", wantsLabel("tier", "gold"), wantsTaint("only", "gold", noSchedule))
	with := func(options ...nodeOption) []nodeOption { return append(options, roomy...) }
	for file, c := range map[string]struct {
		pool  *nodesv1.NodePool
		pools []*nodesv1.NodePool
		nodes []*corev1.Node
	}{
		"status-as-wanted.yaml": {full, []*nodesv1.NodePool{full}, []*corev1.Node{
			settled(t, newNode("n1", with(role("gold"))...), full), settled(t, newNode("n2", with(role("gold"), isCordoned, isNotReady)...), full), newNode("outside", with()...),
		}},
		"status-no-nodes.yaml":               {full, []*nodesv1.NodePool{full}, nil},
		"status-updating.yaml":               {full, []*nodesv1.NodePool{full}, []*corev1.Node{settled(t, newNode("n1", with(role("gold"))...), full), newNode("n2", with(role("gold"))...)}},
		"status-conflict-with-somebody.yaml": {full, []*nodesv1.NodePool{full}, []*corev1.Node{settled(t, newNode("n1", with(role("gold"), hasLabel("tier", "brass"))...), full)}},
		"status-dry-run.yaml":                {newPool("gold", inDryRun(), wantsLabel("tier", "gold")), nil, []*corev1.Node{newNode("n1", with(role("gold"))...)}},
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
	pools := articlePools(t, "nodepool.yaml")
	node := settled(t, newNode("node1", role("test"), role("master"), offersHandlers("runc"), hasSize("4", "8Gi")), pools...)
	for _, pool := range pools {
		golden.Check(t, "status-article-shared-"+pool.Name+".yaml", reported(pool, factsOf(pool, pools, node)))
	}
}

// Regression: counts went stale when nodes were created, deleted, or all gone.
func TestNodesAreCounted(t *testing.T) {
	gold := newPool("gold", wantsLabel("tier", "gold"))
	old := nodesv1.NodePoolStatus{NodeCount: 9, ReadyNodes: 9, CordonedNodes: 9, UpdatedNodes: 9, Allocatable: corev1.ResourceList{"cpu": quantity("9")}}
	pools := []*nodesv1.NodePool{gold}
	for name, c := range map[string]struct {
		nodes []*corev1.Node
		want  nodesv1.NodePoolStatus
	}{
		"none":              {nil, nodesv1.NodePoolStatus{}},
		"none that belongs": {[]*corev1.Node{newNode("a", hasSize("1", "1Gi")), newNode("b", role("other"))}, nodesv1.NodePoolStatus{}},
		"not one that has left and is not clean yet": {
			[]*corev1.Node{func() *corev1.Node {
				n := settled(t, newNode("a", role("gold"), hasSize("1", "1Gi")), gold)
				lacksRole("gold")(n)
				return n
			}()}, nodesv1.NodePoolStatus{},
		},
		"by readiness, cordon and progress, with the sum of what they offer": {
			[]*corev1.Node{
				settled(t, newNode("a", role("gold"), hasSize("1500m", "1Gi")), gold),
				settled(t, newNode("b", role("gold"), hasSize("2", "1Gi"), isNotReady), gold),
				newNode("c", role("gold"), hasSize("500m", "512Mi"), isCordoned),
				newNode("d", role("gold"), func(n *corev1.Node) { n.Status.Conditions = nil }),
			},
			nodesv1.NodePoolStatus{NodeCount: 4, ReadyNodes: 2, CordonedNodes: 1, UpdatedNodes: 2, Allocatable: corev1.ResourceList{"cpu": quantity("4"), "memory": quantity("2560Mi")}},
		},
		"a node in conflict as updated: there is nothing left to do": {
			[]*corev1.Node{settled(t, newNode("a", role("gold"), hasLabel("tier", "brass")), gold)},
			nodesv1.NodePoolStatus{NodeCount: 1, ReadyNodes: 1, UpdatedNodes: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := old.DeepCopy()
			count(got, factsOf(gold, pools, c.nodes...))
			same(t, "the numbers", c.want, *got)
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
		"in place":                       {facts: there, done: results(ensure.Unchanged, ""), want: "True AsDeclared"},
		"just made":                      {done: results(ensure.Created, ""), want: "True AsDeclared"},
		"just repaired":                  {facts: there, done: results(ensure.Repaired, ""), want: "True AsDeclared"},
		"being replaced":                 {facts: there, done: results(ensure.Replaced, ""), want: "False Applying"},
		"the name is taken":              {done: results(ensure.Taken, "it is somebody's"), want: "False NameTaken", message: "it is somebody's"},
		"somebody changes it back":       {facts: there, done: results(ensure.Contested, "kubectl does"), want: "False Contested", message: "kubectl does"},
		"the server refuses it":          {done: kit.Outcome{Err: apierrors.NewForbidden(resource, "gold", errors.New("policy says no"))}, want: "False Refused", message: "policy says no"},
		"the server is in trouble":       {done: kit.Outcome{Err: apierrors.NewInternalError(errors.New("etcd is down"))}, want: "Unknown Applying", message: "etcd is down"},
		"held back by a pause":           {pool: newPool("gold", isPaused()), facts: there, done: kit.Outcome{Held: 1, Paused: true, Results: results(ensure.Held, "").Results}, want: "False Paused", message: "opcrew.io/paused"},
		"held back by a dry run":         {pool: newPool("gold", inDryRun()), facts: there, done: kit.Outcome{Held: 1, Results: results(ensure.Held, "").Results}, want: "False DryRun", message: "opcrew.io/dry-run"},
		"a new pool in dry run has none": {pool: newPool("gold", inDryRun()), done: kit.Outcome{Held: 1}, want: "False DryRun", message: "held back"},
	} {
		t.Run(name, func(t *testing.T) {
			pool := c.pool
			if pool == nil {
				pool = newPool("gold")
			}
			got := conditionOf(reportedAfter(pool, c.facts, c.done), nodesv1.NodePoolRuntimeClassReady)
			same(t, "the condition", c.want, short(got))
			if !strings.Contains(got.Message, c.message) {
				t.Errorf("expected the message to have %q, got %q", c.message, got.Message)
			}
		})
	}
}

func TestNodesUpdatedSaysWhy(t *testing.T) {
	gold := newPool("gold", wantsLabel("tier", "gold"), wantsTaint("only", "gold", noExecute))
	for name, c := range map[string]struct {
		nodes    []*corev1.Node
		refusals map[string]string
		want     string
		message  string
	}{
		"all done":         {nodes: []*corev1.Node{settled(t, newNode("a", role("gold")), gold)}, want: "True AsWanted"},
		"none there":       {want: "True AsWanted"},
		"some still to do": {nodes: []*corev1.Node{newNode("b", role("gold")), newNode("a", role("gold"))}, want: "False Updating", message: "2 nodes (a, b) being changed"},
		"some refused": {
			nodes:    []*corev1.Node{newNode("b", role("gold")), newNode("a", role("gold")), newNode("c", role("gold"))},
			refusals: map[string]string{"b": "webhook says no", "c": "webhook says never", "elsewhere": "?"},
			want:     "False NodeRefused", message: "2 nodes (b, c) cannot be changed; b: webhook says no",
		},
		"one that cannot be cleaned": {
			nodes: []*corev1.Node{func() *corev1.Node {
				n := settled(t, newNode("a", role("gold")), gold)
				lacksRole("gold")(n)
				return n
			}()}, refusals: map[string]string{"a": "no"}, want: "False NodeRefused", message: "1 node (a) cannot be changed; a: no",
		},
		"a NoExecute taint is withheld": {
			nodes: []*corev1.Node{settled(t, newNode("a", role("gold"), role("control-plane")), gold)},
			want:  "False ControlPlaneProtected", message: "withheld from 1 node (a) of the control plane: set spec.allowNoExecuteOnControlPlane",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := factsOf(gold, []*nodesv1.NodePool{gold}, c.nodes...)
			f.refusals = c.refusals
			got := conditionOf(reported(gold, f), nodesv1.NodePoolNodesUpdated)
			same(t, "the condition", c.want, short(got))
			if !strings.Contains(got.Message, c.message) {
				t.Errorf("expected the message to have %q, got %q", c.message, got.Message)
			}
		})
	}
}

func TestHandlerAvailableSaysWhere(t *testing.T) {
	kata := newPool("kata", func(p *nodesv1.NodePool) { p.Spec.Handler = "kata" })
	for name, c := range map[string]struct {
		nodes   []*corev1.Node
		want    string
		message string
	}{
		"every node offers it":    {[]*corev1.Node{newNode("a", role("kata"), offersHandlers("runc", "kata"))}, "True HandlerOffered", `"kata"`},
		"no node to ask":          {nil, "True HandlerOffered", ""},
		"a node outside lacks it": {[]*corev1.Node{newNode("a", offersHandlers("runc"))}, "True HandlerOffered", ""},
		"a node does not tell":    {[]*corev1.Node{newNode("a", role("kata")), newNode("b", role("kata"), offersHandlers("kata"))}, "Unknown HandlerNotReported", "1 node (a)"},
		"a node lacks it":         {[]*corev1.Node{newNode("a", role("kata")), newNode("b", role("kata"), offersHandlers("runc"))}, "False HandlerMissing", `1 node (b) has no handler "kata"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := conditionOf(reported(kata, factsOf(kata, []*nodesv1.NodePool{kata}, c.nodes...)), nodesv1.NodePoolHandlerAvailable)
			same(t, "the condition", c.want, short(got))
			if !strings.Contains(got.Message, c.message) {
				t.Errorf("expected the message to have %q, got %q", c.message, got.Message)
			}
		})
	}
}

// Ready names the first of the causes that stand in its way, in a fixed order.
func TestReadyNamesTheFirstBlockingCause(t *testing.T) {
	pool := newPool("gold", wantsLabel("tier", "gold"), func(p *nodesv1.NodePool) { p.Spec.Handler = "kata" })
	pools := []*nodesv1.NodePool{pool}
	there := results(ensure.Unchanged, "")
	for _, c := range []struct {
		cured string
		nodes []*corev1.Node
		done  kit.Outcome
		want  string
	}{
		{"nothing", []*corev1.Node{newNode("a", role("gold"), offersHandlers("runc"), hasLabel("tier", "brass")), newNode("b", role("gold"))}, results(ensure.Taken, ""), "False NameTaken"},
		{"the RuntimeClass", []*corev1.Node{newNode("a", role("gold"), offersHandlers("runc"), hasLabel("tier", "brass")), newNode("b", role("gold"))}, there, "True HeldByOthers"},
		{"and the conflict", []*corev1.Node{newNode("a", role("gold"), offersHandlers("runc")), newNode("b", role("gold"))}, there, "False Updating"},
		{"and the nodes", []*corev1.Node{settled(t, newNode("a", role("gold"), offersHandlers("runc")), pool)}, there, "False HandlerMissing"},
		{"and the handler, as far as is known", []*corev1.Node{settled(t, newNode("a", role("gold")), pool)}, there, "True AsWanted"},
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
	gold := newPool("gold", wantsLabel("tier", "gold"))
	node := newNode("a", role("gold"), isCordoned, offersHandlers("runc"))
	update := func(p *nodesv1.NodePool, options ...poolOption) *nodesv1.NodePool {
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
		"as wanted": {gold, []*corev1.Node{settled(t, node, gold)}, nil, 0, "True AsWanted", "1 node as wanted, 1 ready, 1 cordoned"},
		"no node":   {gold, nil, nil, 0, "True NoNodes", "label one with node-role.kubernetes.io/gold="},
		"dry run": {
			newPool("gold", inDryRun(), wantsLabel("tier", "gold")), []*corev1.Node{node}, nil, 1,
			"False DryRun", "1 node would change and 0 pods be evicted, see status.preview; first: apply RuntimeClass gold",
		},
		"dry run of what is there": {newPool("gold", inDryRun(), wantsLabel("tier", "gold")), []*corev1.Node{settled(t, node, gold)}, nil, 0, "True AsWanted", ""},
		// A pause holds node changes back too, of which the shared loop knows nothing.
		"paused with changes that wait": {
			newPool("gold", isPaused(), wantsLabel("tier", "gold"), wantsAnnotation("note", "x")), []*corev1.Node{settled(t, node, gold)}, nil, 0,
			"False Paused", "changes of 1 node are held back; first: add annotation note=x on 1 node (a)",
		},
		"paused and as wanted": {newPool("gold", isPaused(), wantsLabel("tier", "gold")), []*corev1.Node{settled(t, node, gold)}, nil, 0, "True AsWanted", ""},
		"going away":           {update(gold, beingDeleted), []*corev1.Node{settled(t, node, gold)}, nil, 0, "False Deleting", "Taking what the pool put there off 1 node"},
		"going away, and a node refuses": {
			update(gold, beingDeleted), []*corev1.Node{settled(t, node, gold)}, refused, 0,
			"False Deleting", "off 1 node; 1 node (a) cannot be changed; a: webhook says no",
		},
		"going away while paused": {
			update(gold, beingDeleted, isPaused()), []*corev1.Node{settled(t, node, gold)}, nil, 0,
			"False Deleting", "opcrew.io/paused: what the pool put on 1 node stays there until the annotation goes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := factsOf(c.pool, []*nodesv1.NodePool{c.pool}, c.nodes...)
			f.class, f.refusals = &nodev1.RuntimeClass{Handler: "runc"}, c.refusals
			if c.pool.DeletionTimestamp == nil && frozen(c.pool) {
				f.preview = membersOf(c.pool.Name, thaw(c.pool, f.pools), nodesOf(c.nodes))
			}
			done := results(ensure.Unchanged, "")
			done.Held = c.held
			status := reportedAfter(c.pool, f, done)
			got := conditionOf(status, nodesv1.NodePoolReady)
			same(t, "Ready", c.want, short(got))
			if !strings.Contains(got.Message, c.message) {
				t.Errorf("expected the message to have %q, got %q", c.message, got.Message)
			}
			if wantPreview := dryRun(c.pool); (status.Preview != nil) != wantPreview {
				t.Errorf("expected a preview in the status: %t, got %v", wantPreview, status.Preview)
			}
		})
	}
}

func TestAPreviewGoesWithTheDryRun(t *testing.T) {
	gold := newPool("gold")
	gold.Status.Preview = &nodesv1.Preview{NodeCount: 1}
	if got := reported(gold, facts{}); got.Preview != nil {
		t.Errorf("expected no preview without a dry run, got %v", got.Preview)
	}
}

// A second report of the same facts must not cost a write.
func TestTheSameFactsGiveTheSameStatus(t *testing.T) {
	gold := newPool("gold", wantsLabel("tier", "gold"), wantsLabel("zone", "a"))
	var nodes []*corev1.Node
	for i := range 30 {
		nodes = append(nodes, newNode(fmt.Sprintf("n%02d", i), role("gold"), hasLabel("tier", fmt.Sprint(i)), hasSize("1", "1Gi")))
	}
	pool := gold.DeepCopy()
	pool.Status = reported(gold, factsOf(gold, []*nodesv1.NodePool{gold}, nodes...))
	for range 10 {
		later := pool.DeepCopy()
		nodes = slices.Concat(nodes[7:], nodes[:7])
		f := factsOf(gold, []*nodesv1.NodePool{gold}, nodes...)
		f.class = &nodev1.RuntimeClass{Handler: "runc"}
		(&poolReconciler{}).Report(later, f, results(ensure.Unchanged, ""), someTime.Add(time.Hour))
		same(t, "the status an hour later", pool.Status, later.Status)
	}
}

func TestAStatusStaysSmallAtFiveThousandNodes(t *testing.T) {
	var wants []poolOption
	for i := range 32 {
		wants = append(wants, wantsLabel(fmt.Sprintf("example.com/label-%02d", i), "gold"), wantsAnnotation(fmt.Sprintf("example.com/note-%02d", i), strings.Repeat("x", 4096)))
	}
	gold := newPool("gold", append(wants, inDryRun(), wantsTaint("only", "gold", noExecute))...)
	nodes := make([]*corev1.Node, 5000)
	pods := make([]corev1.Pod, 5000)
	refusals := map[string]string{}
	for i := range nodes {
		name := fmt.Sprintf("a-rather-long-name-of-a-node-in-some-cloud-%04d.example.com", i)
		nodes[i] = newNode(name, role("gold"), hasSize("64", "256Gi"), hasLabel(fmt.Sprintf("example.com/label-%02d", i%32), "brass"), hasAnnotation(fmt.Sprintf("example.com/note-%02d", i%32), strings.Repeat("y", 4096)))
		pods[i] = newPod(fmt.Sprintf("pod-%04d", i), name)
		refusals[name] = strings.Repeat("no ", 1000)
	}
	for name, pool := range map[string]*nodesv1.NodePool{"dry run": gold, "at work": newPool("gold", wants...)} {
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
	pool := newPool("gold", func(p *nodesv1.NodePool) { p.Spec.Handler = "" })
	got := conditionOf(reported(pool, factsOf(pool, []*nodesv1.NodePool{pool}, newNode("a", role("gold"), offersHandlers("runc")))), nodesv1.NodePoolHandlerAvailable)
	same(t, "HandlerAvailable", "True HandlerOffered", short(got))
}
