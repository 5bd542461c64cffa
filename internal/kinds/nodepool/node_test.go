// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv/metric"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/refusals"
	"github.com/opcrew/opcrew/internal/kit"
)

func TestJoinsAndLeavesAreReportedOnce(t *testing.T) {
	held := nodestate.Ledger{Pools: []string{"left", "stayed"}}
	now := nodeDecision{Desired: nodestate.Desired{Ledger: nodestate.Ledger{Pools: []string{"joined", "stayed"}}}}
	var got []string
	for _, e := range membershipEvents(held, now) {
		got = append(got, e.Reason+": "+e.Note)
	}
	pooltest.Same(t, "events", []string{
		"JoinedNodePool: The node is now a member of NodePool joined and has the labels, taints and annotations of the pool",
		"LeftNodePool: The node is no longer a member of NodePool left; opcrew removed the labels, taints and annotations that the pool had set",
	}, got)
	if again := membershipEvents(now.Ledger, now); len(again) > 0 {
		t.Errorf("expected no event where nothing changed, got %v", again)
	}
}

func TestTheNumberOfNodesIsReportedWhenItChanges(t *testing.T) {
	before, after := pooltest.Pool("gold"), pooltest.Pool("gold")
	before.Status.NodeCount, after.Status.NodeCount = 2, 1
	got := (&poolReconciler{}).transitions(before, after)
	if len(got) != 1 || got[0].Note != "The pool now has 1 node, previously 2" {
		t.Errorf("expected one event with both numbers, got %v", got)
	}
	if again := (&poolReconciler{}).transitions(after, after); len(again) > 0 {
		t.Errorf("expected no event for the same number, got %v", again)
	}
}

func TestTheNodesPlanIsOnePatchOrNone(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"))
	pools := nodeFacts{pools: []*nodesv1.NodePool{gold}}
	plan := planNodeAt(pooltest.Node("n", pooltest.Role("gold")), pools, pooltest.SomeTime.Time)
	if len(plan.Patches) != 1 || len(plan.Events) != 1 || plan.Finalizer != "" || len(plan.Children) > 0 {
		t.Errorf("expected one patch and the event of the join, got %+v", plan)
	}
	for name, node := range map[string]*corev1.Node{
		"a node as wanted":          settled(t, pooltest.Node("n", pooltest.Role("gold")), gold),
		"a node that no pool wants": pooltest.Node("n"),
		"a node that is going away": pooltest.Node("n", pooltest.Role("gold"), func(n *corev1.Node) { n.DeletionTimestamp = &pooltest.SomeTime }),
	} {
		if plan := planNodeAt(node, pools, pooltest.SomeTime.Time); len(plan.Patches) > 0 || len(plan.Events) > 0 || plan.Again > 0 {
			t.Errorf("%s: expected nothing to be done, got %+v", name, plan)
		}
	}
}

// Pods get their tolerations when they are created. If opcrew set a taint before the RuntimeClass tolerates it, pods
// created in between would stay Pending forever.
func TestATaintWaitsForTheRuntimeClassesThatMustTolerateIt(t *testing.T) {
	class := func(pool string, tolerations ...corev1.Toleration) *nodev1.RuntimeClass {
		c := &nodev1.RuntimeClass{}
		owner := pooltest.Pool(pool)
		c.Name, c.OwnerReferences = pool, []metav1.OwnerReference{*metav1.NewControllerRef(owner, nodesv1.GroupVersion.WithKind("NodePool"))}
		c.Scheduling = &nodev1.Scheduling{Tolerations: tolerations}
		return c
	}
	tolerating := func(value string) corev1.Toleration {
		return corev1.Toleration{Key: "only", Operator: corev1.TolerationOpEqual, Value: value, Effect: pooltest.NoSchedule}
	}
	foreign := class("gold")
	foreign.OwnerReferences = nil
	reported := func(p *nodesv1.NodePool) {
		p.Status.Conditions = []metav1.Condition{{Type: nodesv1.NodePoolRuntimeClassReady, ObservedGeneration: p.Generation}}
	}
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "new", pooltest.NoSchedule), reported)
	old := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "old", pooltest.NoSchedule))
	fresh := pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("other"))
	for name, c := range map[string]struct {
		node    *corev1.Node
		classes []*nodev1.RuntimeClass
		others  []*nodesv1.NodePool
		want    []string
	}{
		"until the pool has its class":               {fresh, nil, nil, nil},
		"while its class is another owner's":         {fresh, []*nodev1.RuntimeClass{foreign}, nil, nil},
		"not for a class that another pool lacks":    {fresh, []*nodev1.RuntimeClass{class("gold", tolerating("new"))}, []*nodesv1.NodePool{pooltest.Pool("other")}, []string{"only=new:NoSchedule"}},
		"until the class tolerates it":               {fresh, []*nodev1.RuntimeClass{class("gold")}, nil, nil},
		"no longer when it does":                     {fresh, []*nodev1.RuntimeClass{class("gold", tolerating("new"))}, nil, []string{"only=new:NoSchedule"}},
		"for the class of another pool on the node":  {fresh, []*nodev1.RuntimeClass{class("gold", tolerating("new")), class("other")}, []*nodesv1.NodePool{pooltest.Pool("other")}, nil},
		"not for the class of a pool elsewhere":      {pooltest.Node("n", pooltest.Role("gold")), []*nodev1.RuntimeClass{class("gold", tolerating("new")), class("other")}, []*nodesv1.NodePool{pooltest.Pool("other")}, []string{"only=new:NoSchedule"}},
		"not for the class of a pool that is frozen": {settled(t, fresh, pooltest.Pool("other")), []*nodev1.RuntimeClass{class("gold", tolerating("new")), class("other")}, []*nodesv1.NodePool{pooltest.Pool("other", pooltest.IsPaused())}, []string{"only=new:NoSchedule"}},
		"with its old value where it has one":        {settled(t, fresh, old), []*nodev1.RuntimeClass{class("gold", tolerating("old"))}, nil, []string{"only=old:NoSchedule"}},
		"not where it is on the node already":        {settled(t, fresh, gold), []*nodev1.RuntimeClass{class("gold")}, nil, []string{"only=new:NoSchedule"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := nodeFacts{pools: append(slices.Clone(c.others), gold), classes: map[string]*nodev1.RuntimeClass{}}
			for _, class := range c.classes {
				f.classes[class.Name] = class
			}
			node := c.node
			if plan := planNodeAt(c.node, f, pooltest.SomeTime.Time); len(plan.Patches) > 0 {
				node = pooltest.Applied(t, c.node, plan.Patches[0].Data)
			}
			pooltest.Same(t, "taints", c.want, pooltest.TaintsOf(node), cmpopts.EquateEmpty())
			pooltest.Same(t, "the label, which does not wait", "gold", node.Labels["tier"])
			if again := planNodeAt(node, f, pooltest.SomeTime.Time); len(again.Patches) > 0 {
				t.Errorf("expected one patch, got another one: %s", again.Patches[0].Data)
			}
		})
	}
}

func TestARefusalHasTheWordsOfWhoRefused(t *testing.T) {
	for want, done := range map[string]kit.Outcome{
		"":                        {},
		"webhook says no":         {Err: errors.New("webhook says no")},
		"changed back by kubectl": {Contested: "changed back by kubectl"},
		"the annotation opcrew.io/paused on the node pauses changes": {Paused: true, Held: 1},
	} {
		pooltest.Same(t, "the words", want, whyNot(done))
	}
	pooltest.Same(t, "the words for a paused node that is as wanted", "", whyNot(kit.Outcome{Paused: true}))
}

func TestARefusalWakesItsPoolsOnlyWhenItIsNews(t *testing.T) {
	r := refusals.New()
	woken := func() (names []string) {
		for {
			select {
			case e := <-r.Woken():
				names = append(names, e.Object.GetName())
				r.Snapshot(e.Object.GetName()) // called for its side effect: after a snapshot, the pool can be enqueued again
			default:
				return names
			}
		}
	}
	pools := []string{"gold", "silver"}
	for _, c := range []struct {
		why  string
		want []string
	}{{"", nil}, {"no", pools}, {"no", nil}, {"never", pools}, {"", pools}, {"", nil}} {
		r.Set("n", c.why, pools)
		pooltest.Same(t, fmt.Sprintf("pools woken by %q", c.why), c.want, woken(), cmpopts.EquateEmpty())
	}
	r.Set("n", "no", nil)
	taken := r.Snapshot("gold")
	r.Set("n", "", nil)
	pooltest.Same(t, "a snapshot, which stays as it was", pooltest.LabelMap{"n": "no"}, taken)
	pooltest.Same(t, "refusals at the end", pooltest.LabelMap{}, r.Snapshot("gold"))
}

func TestAPoolsMetricsComeAndGoWithIt(t *testing.T) {
	registry := prometheus.NewRegistry()
	g, err := newGauges(registry)
	if err != nil {
		t.Fatal(err)
	}
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"))
	g.observe("gold", factsOf(gold, []*nodesv1.NodePool{gold}, settled(t, pooltest.Node("a", pooltest.Role("gold"), pooltest.HasLabel("tier", "brass"), pooltest.IsCordoned), gold), pooltest.Node("b", pooltest.Role("gold"), pooltest.IsNotReady)).nodes)
	g.observe("other", nil)
	g.forget("other")
	pooltest.Same(t, "the series", map[string]float64{
		"opcrew_nodepool_nodes gold total": 2, "opcrew_nodepool_nodes gold ready": 1, "opcrew_nodepool_nodes gold cordoned": 1,
		"opcrew_nodepool_nodes gold updated": 1, "opcrew_nodepool_conflicts gold": 1,
	}, metric.Gauges(t, registry))
}

func TestThePoolsPlan(t *testing.T) {
	gold := pooltest.Pool("gold")
	plan := planAt(gold, facts{}, pooltest.SomeTime.Time)
	if plan.Finalizer != finalizer || len(plan.Children) != 1 || plan.Hold || plan.Release != "" || len(plan.Patches) > 0 {
		t.Errorf("expected the finalizer and the RuntimeClass, got %+v", plan)
	}
	pooltest.Same(t, "what makes the RuntimeClass be replaced", []string{"handler"}, plan.Children[0].ReplaceOn)
	if plan := planAt(pooltest.Pool("gold", pooltest.InDryRun()), facts{}, pooltest.SomeTime.Time); !plan.Hold {
		t.Error("expected a dry run to hold everything back")
	}
	deleted := pooltest.Pool("gold", pooltest.BeingDeleted)
	node := settled(t, pooltest.Node("n", pooltest.Role("gold")), gold)
	for name, c := range map[string]struct {
		facts facts
		want  string
	}{
		"a node still carries something":               {factsOf(deleted, []*nodesv1.NodePool{deleted}, node), ""},
		"the server, not the cache, shows such a node": {facts{held: 1}, ""},
		"no node carries anything":                     {factsOf(deleted, []*nodesv1.NodePool{deleted}, pooltest.Node("n", pooltest.Role("gold"))), finalizer},
	} {
		if plan := planAt(deleted, c.facts, pooltest.SomeTime.Time); plan.Release != c.want || len(plan.Children) > 0 || plan.Finalizer != "" {
			t.Errorf("going away, %s: expected release of %q and nothing else, got %+v", name, c.want, plan)
		}
	}
}

// For a new NodePool, opcrew must write a node only once, after the RuntimeClass of the pool exists.
func TestAPoolWhoseClassIsAboutToComeChangesNothingUntilThen(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "new", pooltest.NoSchedule))
	silver := pooltest.Pool("silver", pooltest.WantsLabel("metal", "silver"))
	node := pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("silver"))
	f := nodeFacts{pools: []*nodesv1.NodePool{gold, silver}, classes: map[string]*nodev1.RuntimeClass{}}
	plan := planNodeAt(node, f, pooltest.SomeTime.Time)
	if len(plan.Patches) != 1 {
		t.Fatalf("expected the other pool to go on, got %d patches", len(plan.Patches))
	}
	node = pooltest.Applied(t, node, plan.Patches[0].Data)
	pooltest.Same(t, "labels of the pool that goes on", "silver", node.Labels["metal"])
	if _, early := node.Labels["tier"]; early || len(node.Spec.Taints) > 0 {
		t.Errorf("expected nothing of a pool whose RuntimeClass is not there yet, got %v %v", node.Labels, node.Spec.Taints)
	}

	class := &nodev1.RuntimeClass{Scheduling: &nodev1.Scheduling{Tolerations: []corev1.Toleration{{Key: "only", Operator: corev1.TolerationOpExists}}}}
	class.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(gold, nodesv1.GroupVersion.WithKind("NodePool"))}
	f.classes["gold"] = class
	node = pooltest.Applied(t, node, planNodeAt(node, f, pooltest.SomeTime.Time).Patches[0].Data)
	pooltest.Same(t, "label and taint together", []string{"only=new:NoSchedule"}, pooltest.TaintsOf(node))
	pooltest.Same(t, "the label", "gold", node.Labels["tier"])
}

func TestTheOlderPoolWinsEvenIfItsClassComesLater(t *testing.T) {
	older := pooltest.Pool("older", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "new", pooltest.NoSchedule))
	younger := pooltest.Pool("younger", pooltest.WantsLabel("tier", "silver"), func(p *nodesv1.NodePool) {
		p.CreationTimestamp = metav1.NewTime(pooltest.SomeTime.Add(time.Hour))
	})
	node := pooltest.Node("n", pooltest.Role("older"), pooltest.Role("younger"))
	f := nodeFacts{pools: []*nodesv1.NodePool{younger, older}, classes: map[string]*nodev1.RuntimeClass{}}
	plan := planNodeAt(node, f, pooltest.SomeTime.Time)
	for _, patch := range plan.Patches {
		node = pooltest.Applied(t, node, patch.Data)
	}
	if tier, taken := node.Labels["tier"]; taken {
		t.Errorf("expected the label to wait for the older pool, got %q", tier)
	}
}
