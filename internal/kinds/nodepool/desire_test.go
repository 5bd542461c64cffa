// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

func TestANodeBelongsToAPool(t *testing.T) {
	gold := newPool("gold")
	byZone := newPool("gold", selects("zone", "a"), selects("disk", "ssd"))
	putByPool := func(key, value string) nodeOption {
		return func(n *corev1.Node) {
			hasLabel(key, value)(n)
			l := ledgerOf(n)
			l.items[labelItem(key)] = entry{Value: value, Pools: []string{"silver"}}
			hasLedger(l.String())(n)
		}
	}
	for name, c := range map[string]struct {
		pool *nodesv1.NodePool
		node *corev1.Node
		want bool
	}{
		"by the role label":                                     {gold, newNode("n", role("gold")), true},
		"by the role label, whatever its value":                 {gold, newNode("n", hasLabel(nodesv1.RolePrefix+"gold", "true")), true},
		"not by the role label of another pool":                 {gold, newNode("n", role("golden")), false},
		"not without labels":                                    {gold, newNode("n"), false},
		"not by a role label that a pool put there":             {gold, newNode("n", putByPool(nodesv1.RolePrefix+"gold", "")), false},
		"by a selector of which every label matches":            {byZone, newNode("n", hasLabel("zone", "a"), hasLabel("disk", "ssd")), true},
		"not by a selector of which one label is missing":       {byZone, newNode("n", hasLabel("zone", "a")), false},
		"not by a selector of which one label differs":          {byZone, newNode("n", hasLabel("zone", "a"), hasLabel("disk", "hdd")), false},
		"by the role label, where the selector does not match":  {byZone, newNode("n", role("gold")), true},
		"not by a selected label that a pool put there":         {byZone, newNode("n", putByPool("zone", "a"), hasLabel("disk", "ssd")), false},
		"not by an empty selector":                              {newPool("gold", func(p *nodesv1.NodePool) { p.Spec.NodeSelector = map[string]nodesv1.LabelValue{} }), newNode("n", hasLabel("zone", "a")), false},
		"by a selector for an empty value":                      {newPool("gold", selects("zone", "")), newNode("n", hasLabel("zone", "")), true},
		"not by a selector for an empty value of a missing key": {newPool("gold", selects("zone", "")), newNode("n"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := belongs(c.pool, c.node, ledgerOf(c.node)); got != c.want {
				t.Errorf("expected the node to belong: %t, got %t", c.want, got)
			}
		})
	}
}

// story is what happens to one node, and what it carries at the end.
type story struct {
	node      *corev1.Node
	pools     []*nodesv1.NodePool
	then      []func(*world)
	labels    map[string]string // role labels apart
	notes     map[string]string // annotations, the ledger apart
	taints    []string
	conflicts []string
	withheld  []string
}

func edit(pools ...*nodesv1.NodePool) func(*world) { return func(w *world) { w.have(pools...) } }
func drop(names ...string) func(*world)            { return func(w *world) { w.drop(names...) } }
func hand(options ...nodeOption) func(*world)      { return func(w *world) { w.change(options...) } }

func (s story) run(t *testing.T) {
	w := newWorld(t, s.node, s.pools...)
	w.settle()
	for _, step := range s.then {
		step(w)
		w.settle()
	}
	labels := map[string]string{}
	for key, value := range w.node.Labels {
		if len(key) < len(nodesv1.RolePrefix) || key[:len(nodesv1.RolePrefix)] != nodesv1.RolePrefix {
			labels[key] = value
		}
	}
	empty := cmpopts.EquateEmpty()
	same(t, "labels of the node", s.labels, labels, empty)
	same(t, "annotations of the node", s.notes, bare(w.node).Annotations, empty)
	same(t, "taints of the node", s.taints, taintsOf(w.node), empty)
	d := w.desired()
	same(t, "conflicts", s.conflicts, tell(d.conflicts), empty)
	var withheld []string
	for _, h := range d.withheld {
		withheld = append(withheld, h.pool+": "+h.item.key)
	}
	same(t, "withheld taints", s.withheld, withheld, empty)
}

type labelMap = map[string]string

func TestWhatAPoolWantsIsPutOnChangedAndTakenOff(t *testing.T) {
	full := newPool("gold", wantsLabel("tier", "gold"), wantsAnnotation("note", "x"), wantsTaint("only", "gold", noSchedule))
	carried := story{labels: labelMap{"tier": "gold"}, notes: labelMap{"note": "x"}, taints: []string{"only=gold:NoSchedule"}}
	node := newNode("n", role("gold"))
	for name, s := range map[string]story{
		"a member carries what the pool wants": {
			node: node, pools: []*nodesv1.NodePool{full},
			labels: carried.labels, notes: carried.notes, taints: carried.taints,
		},
		"a node that is no member stays as it is": {node: newNode("n"), pools: []*nodesv1.NodePool{full}},
		"a changed spec changes the node": {
			node: node, pools: []*nodesv1.NodePool{full},
			then:   []func(*world){edit(newPool("gold", wantsLabel("tier", "platinum"), wantsAnnotation("note", "y"), wantsTaint("only", "platinum", noSchedule)))},
			labels: labelMap{"tier": "platinum"}, notes: labelMap{"note": "y"}, taints: []string{"only=platinum:NoSchedule"},
		},
		"what is no longer in the spec goes": {
			node: node, pools: []*nodesv1.NodePool{full}, then: []func(*world){edit(newPool("gold"))},
		},
		"a taint whose effect changes is another taint": {
			node: node, pools: []*nodesv1.NodePool{full},
			then:   []func(*world){edit(newPool("gold", wantsTaint("only", "gold", noExecute)))},
			taints: []string{"only=gold:NoExecute"},
		},
		"one key can have several effects": {
			node: node, pools: []*nodesv1.NodePool{newPool("gold", wantsTaint("only", "a", noSchedule), wantsTaint("only", "b", noExecute))},
			taints: []string{"only=b:NoExecute", "only=a:NoSchedule"},
		},
		"a node that leaves is as it was": {
			node: node, pools: []*nodesv1.NodePool{full}, then: []func(*world){hand(lacksRole("gold"))},
		},
		"a node whose pool goes is as it was": {
			node: node, pools: []*nodesv1.NodePool{full}, then: []func(*world){drop("gold")},
		},
		"a node whose pool vanished without a finalizer is as it was": {
			node: node, pools: []*nodesv1.NodePool{full}, then: []func(*world){func(w *world) { delete(w.pools, "gold") }},
		},
		"a node that a selector brought and that matches no longer is as it was": {
			node: newNode("n", hasLabel("zone", "a")), pools: []*nodesv1.NodePool{newPool("gold", selects("zone", "a"), wantsLabel("tier", "gold"))},
			then:   []func(*world){hand(hasLabel("zone", "b"))},
			labels: labelMap{"zone": "b"},
		},
		"what somebody changed is put back": {
			node: node, pools: []*nodesv1.NodePool{full},
			then:   []func(*world){hand(hasLabel("tier", "brass"), hasAnnotation("note", "z"), func(n *corev1.Node) { n.Spec.Taints[0].Value = "brass" })},
			labels: carried.labels, notes: carried.notes, taints: carried.taints,
		},
		"what somebody removed is put back": {
			node: node, pools: []*nodesv1.NodePool{full},
			then:   []func(*world){hand(lacksLabel("tier"), func(n *corev1.Node) { delete(n.Annotations, "note"); n.Spec.Taints = nil })},
			labels: carried.labels, notes: carried.notes, taints: carried.taints,
		},
	} {
		t.Run(name, s.run)
	}
}

func TestAMemberBySelectorGetsTheRoleLabelAndLosesItAgain(t *testing.T) {
	roleLabel := nodesv1.RolePrefix + "gold"
	w := newWorld(t, newNode("n", hasLabel("zone", "a")), newPool("gold", selects("zone", "a")))
	w.settle()
	if _, ok := w.node.Labels[roleLabel]; !ok {
		t.Fatal("expected the role label, by which the RuntimeClass selects, on a member by selector")
	}
	w.change(hasLabel("zone", "b"))
	w.settle()
	if _, ok := w.node.Labels[roleLabel]; ok {
		t.Error("expected the role label, which the pool put there, to go with the membership")
	}
}

func TestTwoPoolsCannotKeepEachOthersMembers(t *testing.T) {
	// Each selects by a label that the other one puts on.
	w := newWorld(t, newNode("n", hasLabel("a", "1")),
		newPool("first", selects("a", "1"), wantsLabel("b", "1")),
		newPool("second", selects("b", "1"), wantsLabel("c", "1")))
	w.settle()
	same(t, "pools of the node", []string{"first"}, w.desired().pools)
}

func TestTheRoleLabelOfAnAdministratorStays(t *testing.T) {
	w := newWorld(t, newNode("n", role("gold")), newPool("gold", wantsLabel("tier", "gold")))
	w.settle()
	w.drop("gold")
	same(t, "the node", bare(newNode("n", role("gold"))), bare(w.node))
}

// Regression: the tutorial's operator removed every label and taint whose key has not
// "kubernetes" in it.
func TestWhatSomebodyElsePutOnANodeFirstIsTheirs(t *testing.T) {
	wants := func(value string) []*nodesv1.NodePool {
		return []*nodesv1.NodePool{newPool("gold", wantsLabel("tier", value), wantsAnnotation("note", value), wantsTaint("only", value, noSchedule))}
	}
	node := newNode("n", role("gold"), hasLabel("tier", "theirs"), hasAnnotation("note", "theirs"), hasTaint("only", "theirs", noSchedule))
	theirs := story{labels: labelMap{"tier": "theirs"}, notes: labelMap{"note": "theirs"}, taints: []string{"only=theirs:NoSchedule"}}
	conflicts := []string{"gold wants note=ours, somebody has theirs", "gold wants tier=ours, somebody has theirs", "gold wants only:NoSchedule=ours, somebody has theirs"}
	for name, s := range map[string]story{
		"with the same value it is shared": {
			node: node, pools: wants("theirs"), labels: theirs.labels, notes: theirs.notes, taints: theirs.taints,
		},
		"what was shared is left behind when the pool goes": {
			node: node, pools: wants("theirs"), then: []func(*world){drop("gold")},
			labels: theirs.labels, notes: theirs.notes, taints: theirs.taints,
		},
		"what was shared is left behind when the node leaves": {
			node: node, pools: wants("theirs"), then: []func(*world){hand(lacksRole("gold"))},
			labels: theirs.labels, notes: theirs.notes, taints: theirs.taints,
		},
		"with another value it is a conflict and not overwritten": {
			node: node, pools: wants("ours"), labels: theirs.labels, notes: theirs.notes, taints: theirs.taints, conflicts: conflicts,
		},
		"what was shared is a conflict when the pool wants another value": {
			node: node, pools: wants("theirs"), then: []func(*world){edit(wants("ours")...)},
			labels: theirs.labels, notes: theirs.notes, taints: theirs.taints, conflicts: conflicts,
		},
		"the pool gets it when it is taken away there": {
			node: node, pools: wants("ours"),
			then:   []func(*world){hand(lacksLabel("tier"), func(n *corev1.Node) { delete(n.Annotations, "note"); n.Spec.Taints = nil })},
			labels: labelMap{"tier": "ours"}, notes: labelMap{"note": "ours"}, taints: []string{"only=ours:NoSchedule"},
		},
		"the labels, annotations and taints of others survive joining and leaving, in their order": {
			node: newNode("n", role("gold"), hasLabel("topology.ebs.csi.aws.com/zone", "a"), hasLabel("a", "b"), hasAnnotation("alpha", "x"),
				hasTaint("ToBeDeletedByClusterAutoscaler", "1", noSchedule), hasTaint("node.kubernetes.io/not-ready", "", noExecute), hasTaint("a", "", noSchedule)),
			pools: wants("ours"), then: []func(*world){drop("gold")},
			labels: labelMap{"topology.ebs.csi.aws.com/zone": "a", "a": "b"}, notes: labelMap{"alpha": "x"},
			taints: []string{"ToBeDeletedByClusterAutoscaler=1:NoSchedule", "node.kubernetes.io/not-ready=:NoExecute", "a=:NoSchedule"},
		},
		"a role label with a value is a conflict": {
			node: newNode("n", hasLabel(nodesv1.RolePrefix+"gold", "true")), pools: []*nodesv1.NodePool{newPool("gold")},
			conflicts: []string{"gold wants node-role.kubernetes.io/gold=, somebody has true"},
		},
	} {
		t.Run(name, s.run)
	}
}

// Regression: in the tutorial's operator two pools on one node deleted each other's labels.
func TestSeveralPoolsOnOneNode(t *testing.T) {
	node := newNode("n", role("a"), role("b"), role("c"))
	tier := func(pool, value string, options ...poolOption) *nodesv1.NodePool {
		return newPool(pool, append(options, wantsLabel("tier", value))...)
	}
	loses := func(loser, wanted, winner, found string) []string {
		return []string{fmt.Sprintf("%s wants tier=%s, %s has %s", loser, wanted, winner, found)}
	}
	for name, s := range map[string]story{
		"the node carries what all of them want": {
			node: node, pools: []*nodesv1.NodePool{newPool("a", wantsLabel("x", "1"), wantsTaint("t", "a", noSchedule)), newPool("b", wantsLabel("y", "2"), wantsTaint("t", "b", noExecute))},
			labels: labelMap{"x": "1", "y": "2"}, taints: []string{"t=b:NoExecute", "t=a:NoSchedule"},
		},
		"equal wishes share": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1"), tier("b", "1")}, labels: labelMap{"tier": "1"},
		},
		"what is shared stays while one still wants it": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1"), tier("b", "1")}, then: []func(*world){drop("a")},
			labels: labelMap{"tier": "1"},
		},
		"what is shared goes with the last one": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1"), tier("b", "1")}, then: []func(*world){drop("a"), drop("b")},
		},
		"of different wishes the older pool's wins": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", created(2)), tier("b", "2", created(1))},
			labels: labelMap{"tier": "2"}, conflicts: loses("a", "1", "b", "2"),
		},
		"of pools of one age the name decides": {
			node: node, pools: []*nodesv1.NodePool{tier("b", "2"), tier("a", "1")},
			labels: labelMap{"tier": "1"}, conflicts: loses("b", "2", "a", "1"),
		},
		"an empty value has no privilege": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", created(1)), tier("b", "", created(2))},
			labels: labelMap{"tier": "1"}, conflicts: loses("b", "", "a", "1"),
		},
		"the one that holds it keeps it from an older one": {
			node: node, pools: []*nodesv1.NodePool{tier("b", "2", created(2))}, then: []func(*world){edit(tier("a", "1", created(1)))},
			labels: labelMap{"tier": "2"}, conflicts: loses("a", "1", "b", "2"),
		},
		"the one that holds it may change its mind": {
			node: node, pools: []*nodesv1.NodePool{tier("b", "2", created(2))},
			then:   []func(*world){edit(tier("a", "1", created(1))), edit(tier("b", "3", created(2)))},
			labels: labelMap{"tier": "3"}, conflicts: loses("a", "1", "b", "3"),
		},
		"the loser wins when the winner goes": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", created(1)), tier("b", "2", created(2))}, then: []func(*world){drop("a")},
			labels: labelMap{"tier": "2"},
		},
		"the loser wins when the winner no longer wants it": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", created(1)), tier("b", "2", created(2))}, then: []func(*world){edit(newPool("a", created(1)))},
			labels: labelMap{"tier": "2"},
		},
		"the loser wins when the node leaves the winner": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", created(1)), tier("b", "2", created(2))}, then: []func(*world){hand(lacksRole("a"))},
			labels: labelMap{"tier": "2"},
		},
		"of three, the oldest loser wins when the winner goes": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", created(1)), tier("b", "2", created(3)), tier("c", "3", created(2))}, then: []func(*world){drop("a")},
			labels: labelMap{"tier": "3"}, conflicts: loses("b", "2", "c", "3"),
		},
		"of two that share, the one that changes its wish loses, even the older one": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", created(1)), tier("b", "1", created(2))}, then: []func(*world){edit(tier("a", "2", created(1)))},
			labels: labelMap{"tier": "1"}, conflicts: loses("a", "2", "b", "1"),
		},
		"of two that share and both change their wish, the older one wins": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", created(2)), tier("b", "1", created(1))}, then: []func(*world){edit(tier("a", "2", created(2)), tier("b", "3", created(1)))},
			labels: labelMap{"tier": "3"}, conflicts: loses("a", "2", "b", "3"),
		},
		"a holder that wants another value wins over an older pool that wants the value it had": {
			node: node, pools: []*nodesv1.NodePool{tier("b", "1", created(2))}, then: []func(*world){edit(tier("b", "2", created(2)), tier("a", "1", created(1)))},
			labels: labelMap{"tier": "2"}, conflicts: loses("a", "1", "b", "2"),
		},
		"all losers hear of a conflict with somebody else": {
			node: newNode("n", role("a"), role("b"), hasLabel("tier", "0")), pools: []*nodesv1.NodePool{tier("a", "1"), tier("b", "2")},
			labels: labelMap{"tier": "0"}, conflicts: append(loses("a", "1", "somebody", "0"), loses("b", "2", "somebody", "0")...),
		},
		"a taint of one key and effect is one item": {
			node: node, pools: []*nodesv1.NodePool{newPool("a", wantsTaint("t", "1", noSchedule)), newPool("b", wantsTaint("t", "2", noSchedule))},
			taints: []string{"t=1:NoSchedule"}, conflicts: []string{"b wants t:NoSchedule=2, a has 1"},
		},
	} {
		t.Run(name, s.run)
	}
}

func TestTheArticlesPoolsOnOneNode(t *testing.T) {
	node := newNode("n", role("master"), role("test"))
	story{
		node: node, pools: articlePools(t, "nodepool.yaml"),
		// Both were made within a second: the name decides.
		labels: labelMap{"node-pool.lailin.xyz/master": "8", "node-pool.lailin.xyz/test": "2"},
		taints: []string{"node-pool.lailin.xyz=master:NoSchedule"},
		conflicts: []string{
			"test wants node-pool.lailin.xyz/test=, master has 2",
			"test wants node-pool.lailin.xyz:NoSchedule=test, master has master",
		},
	}.run(t)
	story{
		node: node, pools: articlePools(t, "nodepool.yaml"),
		then:      []func(*world){edit(articlePools(t, "nodepool-updated.yaml")...)},
		labels:    labelMap{"node-pool.lailin.xyz/master": "10", "node-pool.lailin.xyz/test": ""},
		taints:    []string{"node-pool.lailin.xyz=master:NoSchedule"},
		conflicts: []string{"test wants node-pool.lailin.xyz:NoSchedule=test, master has master"},
	}.run(t)
}

func TestAPoolThatIsGoingAwayOrFrozen(t *testing.T) {
	node := newNode("n", role("gold"), role("new"))
	gold := func(value string, options ...poolOption) *nodesv1.NodePool {
		return newPool("gold", append(options, wantsLabel("tier", value), wantsTaint("only", value, noSchedule))...)
	}
	held := story{labels: labelMap{"tier": "1"}, taints: []string{"only=1:NoSchedule"}}
	for name, s := range map[string]story{
		"one that is going away has no say": {
			node: node, pools: []*nodesv1.NodePool{gold("1", beingDeleted)},
		},
		"one that goes away while in dry run is cleaned up after": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", inDryRun(), beingDeleted))},
		},
		"one that goes away while paused keeps what it holds until the pause ends": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", isPaused(), beingDeleted))},
			labels: held.labels, taints: held.taints,
		},
		"one that goes away is cleaned up after when the pause ends": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", isPaused(), beingDeleted)), edit(gold("1", beingDeleted))},
		},
		"a new one that is paused puts nothing on": {node: node, pools: []*nodesv1.NodePool{gold("1", isPaused())}},
		"a new one in dry run puts nothing on":     {node: node, pools: []*nodesv1.NodePool{gold("1", inDryRun())}},
		"a paused one keeps what it holds when its spec changes": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("2", isPaused()))},
			labels: held.labels, taints: held.taints,
		},
		"one in dry run keeps what it holds when its spec changes": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("2", inDryRun()))},
			labels: held.labels, taints: held.taints,
		},
		"a paused one keeps what it holds when its spec no longer has it": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(newPool("gold", isPaused()))},
			labels: held.labels, taints: held.taints,
		},
		"a paused one keeps a node that left": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", isPaused())), hand(lacksRole("gold"))},
			labels: held.labels, taints: held.taints,
		},
		"the node leaves when the pause ends": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", isPaused())), hand(lacksRole("gold")), edit(gold("1"))},
		},
		"what waited is done when the pause ends": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("2", isPaused())), edit(gold("2"))},
			labels: labelMap{"tier": "2"}, taints: []string{"only=2:NoSchedule"},
		},
		"a frozen holder is not outdone by another pool": {
			node: node, pools: []*nodesv1.NodePool{gold("1", created(2))},
			then:   []func(*world){edit(gold("1", created(2), isPaused()), newPool("new", created(1), wantsLabel("tier", "9")))},
			labels: held.labels, taints: held.taints, conflicts: []string{"new wants tier=9, gold has 1"},
		},
		"an annotation with another value than true freezes nothing": {
			node: node, pools: []*nodesv1.NodePool{gold("1", poolAnnotation("opcrew.io/paused", "false"))},
			labels: held.labels, taints: held.taints,
		},
	} {
		t.Run(name, s.run)
	}
}

func TestNoExecuteIsWithheldFromTheControlPlane(t *testing.T) {
	node := newNode("n", role("gold"), role("control-plane"))
	gold := newPool("gold", wantsTaint("only", "gold", noExecute), wantsTaint("only", "gold", noSchedule), wantsLabel("tier", "gold"))
	allowed := gold.DeepCopy()
	allowsNoExecute(allowed)
	both := []string{"only=gold:NoExecute", "only=gold:NoSchedule"}
	for name, s := range map[string]story{
		"the rest is put on": {
			node: node, pools: []*nodesv1.NodePool{gold}, labels: labelMap{"tier": "gold"}, taints: []string{"only=gold:NoSchedule"},
			withheld: []string{"gold: only:NoExecute"},
		},
		"it is put on when the pool allows it": {
			node: node, pools: []*nodesv1.NodePool{allowed}, labels: labelMap{"tier": "gold"}, taints: both,
		},
		"it is put on other nodes": {
			node: newNode("n", role("gold")), pools: []*nodesv1.NodePool{gold}, labels: labelMap{"tier": "gold"}, taints: both,
		},
		"it stays on a node that becomes control plane later": {
			node: newNode("n", role("gold")), pools: []*nodesv1.NodePool{gold}, then: []func(*world){hand(role("control-plane"))},
			labels: labelMap{"tier": "gold"}, taints: both,
		},
		"it is shared, not withheld, where somebody else put it": {
			node: newNode("n", role("gold"), role("control-plane"), hasTaint("only", "gold", noExecute)), pools: []*nodesv1.NodePool{gold},
			labels: labelMap{"tier": "gold"}, taints: both,
		},
		"an allowance of another pool holds as long as that pool": {
			node: newNode("n", role("gold"), role("other"), role("control-plane")), pools: []*nodesv1.NodePool{gold, newPool("other", allowsNoExecute, wantsTaint("only", "gold", noExecute))},
			then:   []func(*world){edit(), drop("other")},
			labels: labelMap{"tier": "gold"}, taints: []string{"only=gold:NoSchedule"}, withheld: []string{"gold: only:NoExecute"},
		},
		"nothing is withheld where another pool may put it on": {
			node: newNode("n", role("gold"), role("other"), role("control-plane")), pools: []*nodesv1.NodePool{gold, newPool("other", allowsNoExecute, wantsTaint("only", "gold", noExecute))},
			then:   []func(*world){edit()},
			labels: labelMap{"tier": "gold"}, taints: both,
		},
		"an allowance of another pool does not count": {
			node: newNode("n", role("gold"), role("other"), role("control-plane")), pools: []*nodesv1.NodePool{gold, newPool("other", allowsNoExecute)},
			labels: labelMap{"tier": "gold"}, taints: []string{"only=gold:NoSchedule"}, withheld: []string{"gold: only:NoExecute"},
		},
	} {
		t.Run(name, s.run)
	}
}

// Regression: a conflict over one taint must not make taints of Kubernetes vanish.
func TestTaintsOfOthersKeepTheirOrderAndTimes(t *testing.T) {
	node := newNode("n", role("gold"), hasTaint("z", "", noSchedule), hasTaint("node.kubernetes.io/unreachable", "", noExecute), hasTaint("a", "", noSchedule))
	node.Spec.Taints[1].TimeAdded = &someTime
	w := newWorld(t, node, newPool("gold", wantsTaint("m", "1", noSchedule)))
	w.settle()
	same(t, "taints", append(node.DeepCopy().Spec.Taints, corev1.Taint{Key: "m", Value: "1", Effect: noSchedule}), w.node.Spec.Taints)
	w.change(hasTaint("later", "", noSchedule))
	w.have(newPool("gold", wantsTaint("m", "2", noSchedule)))
	w.settle()
	same(t, "taints after a change in place", []string{"z=:NoSchedule", "node.kubernetes.io/unreachable=:NoExecute", "a=:NoSchedule", "m=2:NoSchedule", "later=:NoSchedule"}, taintsOf(w.node))
	w.drop("gold")
	same(t, "taints at the end", append(node.DeepCopy().Spec.Taints, corev1.Taint{Key: "later", Effect: noSchedule}), w.node.Spec.Taints)
}
