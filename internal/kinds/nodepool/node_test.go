// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

func TestJoinsAndLeavesAreToldOnce(t *testing.T) {
	held := ledger{pools: []string{"left", "stayed"}}
	now := desired{ledger: ledger{pools: []string{"joined", "stayed"}}}
	var got []string
	for _, e := range membershipEvents(held, now) {
		got = append(got, e.Reason+": "+e.Note)
	}
	same(t, "events", []string{
		"JoinedNodePool: The node belongs to NodePool joined now and carries what it wants",
		"LeftNodePool: The node belongs to NodePool left no longer; what the pool put on it was taken off",
	}, got)
	if again := membershipEvents(now.ledger, now); len(again) > 0 {
		t.Errorf("expected no event where nothing changed, got %v", again)
	}
}

func TestTheNumberOfNodesIsToldWhenItChanges(t *testing.T) {
	before, after := newPool("gold"), newPool("gold")
	before.Status.NodeCount, after.Status.NodeCount = 2, 1
	got := (&poolReconciler{}).Tell(before, after)
	if len(got) != 1 || got[0].Note != "1 node in the pool now, 2 before" {
		t.Errorf("expected one event with both numbers, got %v", got)
	}
	if again := (&poolReconciler{}).Tell(after, after); len(again) > 0 {
		t.Errorf("expected no event for the same number, got %v", again)
	}
}

func TestTheNodesPlanIsOnePatchOrNone(t *testing.T) {
	gold := newPool("gold", wantsLabel("tier", "gold"))
	pools := nodeFacts{pools: []*nodesv1.NodePool{gold}}
	r := &nodeReconciler{}
	plan := r.Plan(newNode("n", role("gold")), pools, someTime.Time)
	if len(plan.Patches) != 1 || len(plan.Events) != 1 || plan.Finalizer != "" || len(plan.Children) > 0 {
		t.Errorf("expected one patch and the event of the join, got %+v", plan)
	}
	for name, node := range map[string]*corev1.Node{
		"a node as wanted":          settled(t, newNode("n", role("gold")), gold),
		"a node that no pool wants": newNode("n"),
		"a node that is going away": newNode("n", role("gold"), func(n *corev1.Node) { n.DeletionTimestamp = &someTime }),
	} {
		if plan := r.Plan(node, pools, someTime.Time); len(plan.Patches) > 0 || len(plan.Events) > 0 || plan.Again > 0 {
			t.Errorf("%s: expected nothing to be done, got %+v", name, plan)
		}
	}
}

// Pods get their tolerations when they are created: one created between a new taint and
// its toleration would be pending for ever.
func TestATaintWaitsForTheRuntimeClassesThatMustTolerateIt(t *testing.T) {
	class := func(pool string, tolerations ...corev1.Toleration) *nodev1.RuntimeClass {
		c := &nodev1.RuntimeClass{}
		owner := newPool(pool)
		c.Name, c.OwnerReferences = pool, []metav1.OwnerReference{*metav1.NewControllerRef(owner, nodesv1.GroupVersion.WithKind("NodePool"))}
		c.Scheduling = &nodev1.Scheduling{Tolerations: tolerations}
		return c
	}
	tolerating := func(value string) corev1.Toleration {
		return corev1.Toleration{Key: "only", Operator: corev1.TolerationOpEqual, Value: value, Effect: noSchedule}
	}
	stranger := class("gold")
	stranger.OwnerReferences = nil
	reported := func(p *nodesv1.NodePool) {
		p.Status.Conditions = []metav1.Condition{{Type: nodesv1.NodePoolRuntimeClassReady, ObservedGeneration: p.Generation}}
	}
	gold := newPool("gold", wantsLabel("tier", "gold"), wantsTaint("only", "new", noSchedule), reported)
	old := newPool("gold", wantsLabel("tier", "gold"), wantsTaint("only", "old", noSchedule))
	fresh := newNode("n", role("gold"), role("other"))
	for name, c := range map[string]struct {
		node    *corev1.Node
		classes []*nodev1.RuntimeClass
		others  []*nodesv1.NodePool
		want    []string
	}{
		"until the pool has its class":               {fresh, nil, nil, nil},
		"while its class is somebody else's":         {fresh, []*nodev1.RuntimeClass{stranger}, nil, nil},
		"not for a class that another pool lacks":    {fresh, []*nodev1.RuntimeClass{class("gold", tolerating("new"))}, []*nodesv1.NodePool{newPool("other")}, []string{"only=new:NoSchedule"}},
		"until the class tolerates it":               {fresh, []*nodev1.RuntimeClass{class("gold")}, nil, nil},
		"no longer when it does":                     {fresh, []*nodev1.RuntimeClass{class("gold", tolerating("new"))}, nil, []string{"only=new:NoSchedule"}},
		"for the class of another pool on the node":  {fresh, []*nodev1.RuntimeClass{class("gold", tolerating("new")), class("other")}, []*nodesv1.NodePool{newPool("other")}, nil},
		"not for the class of a pool elsewhere":      {newNode("n", role("gold")), []*nodev1.RuntimeClass{class("gold", tolerating("new")), class("other")}, []*nodesv1.NodePool{newPool("other")}, []string{"only=new:NoSchedule"}},
		"not for the class of a pool that is frozen": {settled(t, fresh, newPool("other")), []*nodev1.RuntimeClass{class("gold", tolerating("new")), class("other")}, []*nodesv1.NodePool{newPool("other", isPaused())}, []string{"only=new:NoSchedule"}},
		"with its old value where it has one":        {settled(t, fresh, old), []*nodev1.RuntimeClass{class("gold", tolerating("old"))}, nil, []string{"only=old:NoSchedule"}},
		"not where it is on the node already":        {settled(t, fresh, gold), []*nodev1.RuntimeClass{class("gold")}, nil, []string{"only=new:NoSchedule"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := nodeFacts{pools: append(slices.Clone(c.others), gold), classes: map[string]*nodev1.RuntimeClass{}}
			for _, class := range c.classes {
				f.classes[class.Name] = class
			}
			node := c.node
			if plan := (&nodeReconciler{}).Plan(c.node, f, someTime.Time); len(plan.Patches) > 0 {
				node = applied(t, c.node, plan.Patches[0].Data)
			}
			same(t, "taints", c.want, taintsOf(node), cmpopts.EquateEmpty())
			same(t, "the label, which does not wait", "gold", node.Labels["tier"])
			if again := (&nodeReconciler{}).Plan(node, f, someTime.Time); len(again.Patches) > 0 {
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
		"annotation opcrew.io/paused of the node holds its changes back": {Paused: true, Held: 1},
	} {
		same(t, "the words", want, whyNot(done))
	}
	same(t, "the words for a paused node that is as wanted", "", whyNot(kit.Outcome{Paused: true}))
}

func TestARefusalWakesItsPoolsOnlyWhenItIsNews(t *testing.T) {
	r := newRefusals()
	woken := func() (names []string) {
		for {
			select {
			case e := <-r.wake:
				names = append(names, e.Object.GetName())
				r.snapshot(e.Object.GetName()) // it looks, and can be woken again
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
		r.set("n", c.why, pools)
		same(t, fmt.Sprintf("pools woken by %q", c.why), c.want, woken(), cmpopts.EquateEmpty())
	}
	r.set("n", "no", nil)
	taken := r.snapshot("gold")
	r.set("n", "", nil)
	same(t, "a snapshot, which stays as it was", labelMap{"n": "no"}, taken)
	same(t, "refusals at the end", labelMap{}, r.snapshot("gold"))
}

func TestAPoolsMetricsComeAndGoWithIt(t *testing.T) {
	registry := prometheus.NewRegistry()
	g, err := newGauges(registry)
	if err != nil {
		t.Fatal(err)
	}
	gold := newPool("gold", wantsLabel("tier", "gold"))
	g.observe("gold", factsOf(gold, []*nodesv1.NodePool{gold}, settled(t, newNode("a", role("gold"), hasLabel("tier", "brass"), isCordoned), gold), newNode("b", role("gold"), isNotReady)))
	g.observe("other", facts{})
	g.forget("other")
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.Metric {
			key := family.GetName()
			for _, l := range m.Label {
				key += " " + l.GetValue()
			}
			got[key] = m.Gauge.GetValue()
		}
	}
	same(t, "the series", map[string]float64{
		"opcrew_nodepool_nodes gold total": 2, "opcrew_nodepool_nodes gold ready": 1, "opcrew_nodepool_nodes gold cordoned": 1,
		"opcrew_nodepool_nodes gold updated": 1, "opcrew_nodepool_conflicts gold": 1,
	}, got)
}

func TestThePoolsPlan(t *testing.T) {
	r := &poolReconciler{}
	gold := newPool("gold")
	plan := r.Plan(gold, facts{}, someTime.Time)
	if plan.Finalizer != finalizer || len(plan.Children) != 1 || plan.Hold || plan.Release != "" || len(plan.Patches) > 0 {
		t.Errorf("expected the finalizer and the RuntimeClass, got %+v", plan)
	}
	same(t, "what makes the RuntimeClass be replaced", []string{"handler"}, plan.Children[0].ReplaceOn)
	if plan := r.Plan(newPool("gold", inDryRun()), facts{}, someTime.Time); !plan.Hold {
		t.Error("expected a dry run to hold everything back")
	}
	deleted := newPool("gold", beingDeleted)
	node := settled(t, newNode("n", role("gold")), gold)
	for name, c := range map[string]struct {
		facts facts
		want  string
	}{
		"a node still carries something":               {factsOf(deleted, []*nodesv1.NodePool{deleted}, node), ""},
		"the server, not the cache, shows such a node": {facts{held: 1}, ""},
		"no node carries anything":                     {factsOf(deleted, []*nodesv1.NodePool{deleted}, newNode("n", role("gold"))), finalizer},
	} {
		if plan := r.Plan(deleted, c.facts, someTime.Time); plan.Release != c.want || len(plan.Children) > 0 || plan.Finalizer != "" {
			t.Errorf("going away, %s: expected release of %q and nothing else, got %+v", name, c.want, plan)
		}
	}
}

// A node is written once for a new pool, and not before and after its RuntimeClass.
func TestAPoolWhoseClassIsAboutToComeChangesNothingUntilThen(t *testing.T) {
	gold := newPool("gold", wantsLabel("tier", "gold"), wantsTaint("only", "new", noSchedule))
	silver := newPool("silver", wantsLabel("metal", "silver"))
	node := newNode("n", role("gold"), role("silver"))
	f := nodeFacts{pools: []*nodesv1.NodePool{gold, silver}, classes: map[string]*nodev1.RuntimeClass{}}
	plan := (&nodeReconciler{}).Plan(node, f, someTime.Time)
	if len(plan.Patches) != 1 {
		t.Fatalf("expected the other pool to go on, got %d patches", len(plan.Patches))
	}
	node = applied(t, node, plan.Patches[0].Data)
	same(t, "labels of the pool that goes on", "silver", node.Labels["metal"])
	if _, early := node.Labels["tier"]; early || len(node.Spec.Taints) > 0 {
		t.Errorf("expected nothing of a pool whose RuntimeClass is not there yet, got %v %v", node.Labels, node.Spec.Taints)
	}

	class := &nodev1.RuntimeClass{Scheduling: &nodev1.Scheduling{Tolerations: []corev1.Toleration{{Key: "only", Operator: corev1.TolerationOpExists}}}}
	class.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(gold, nodesv1.GroupVersion.WithKind("NodePool"))}
	f.classes["gold"] = class
	node = applied(t, node, (&nodeReconciler{}).Plan(node, f, someTime.Time).Patches[0].Data)
	same(t, "label and taint together", []string{"only=new:NoSchedule"}, taintsOf(node))
	same(t, "the label", "gold", node.Labels["tier"])
}

func TestTheOlderPoolWinsEvenIfItsClassComesLater(t *testing.T) {
	older := newPool("older", wantsLabel("tier", "gold"), wantsTaint("only", "new", noSchedule))
	younger := newPool("younger", wantsLabel("tier", "silver"), func(p *nodesv1.NodePool) {
		p.CreationTimestamp = metav1.NewTime(someTime.Add(time.Hour))
	})
	node := newNode("n", role("older"), role("younger"))
	f := nodeFacts{pools: []*nodesv1.NodePool{younger, older}, classes: map[string]*nodev1.RuntimeClass{}}
	plan := (&nodeReconciler{}).Plan(node, f, someTime.Time)
	for _, patch := range plan.Patches {
		node = applied(t, node, patch.Data)
	}
	if tier, taken := node.Labels["tier"]; taken {
		t.Errorf("expected the label to wait for the older pool, got %q", tier)
	}
}
