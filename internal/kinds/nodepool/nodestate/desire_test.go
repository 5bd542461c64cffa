// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

func TestANodeBelongsToAPool(t *testing.T) {
	gold := pooltest.Pool("gold")
	byZone := pooltest.Pool("gold", pooltest.Selects("zone", "a"), pooltest.Selects("disk", "ssd"))
	putByPool := func(key, value string) pooltest.NodeOption {
		return func(n *corev1.Node) {
			pooltest.HasLabel(key, value)(n)
			l := LedgerOf(n)
			l.Items[labelItem(key)] = entry{Value: value, Pools: []string{"silver"}}
			pooltest.HasLedger(l.String())(n)
		}
	}
	for name, c := range map[string]struct {
		pool *nodesv1.NodePool
		node *corev1.Node
		want bool
	}{
		"by the role label":                                     {gold, pooltest.Node("n", pooltest.Role("gold")), true},
		"by the role label, whatever its value":                 {gold, pooltest.Node("n", pooltest.HasLabel(nodesv1.RolePrefix+"gold", "true")), true},
		"not by the role label of another pool":                 {gold, pooltest.Node("n", pooltest.Role("golden")), false},
		"not without labels":                                    {gold, pooltest.Node("n"), false},
		"not by a role label that a pool put there":             {gold, pooltest.Node("n", putByPool(nodesv1.RolePrefix+"gold", "")), false},
		"by a selector of which every label matches":            {byZone, pooltest.Node("n", pooltest.HasLabel("zone", "a"), pooltest.HasLabel("disk", "ssd")), true},
		"not by a selector of which one label is missing":       {byZone, pooltest.Node("n", pooltest.HasLabel("zone", "a")), false},
		"not by a selector of which one label differs":          {byZone, pooltest.Node("n", pooltest.HasLabel("zone", "a"), pooltest.HasLabel("disk", "hdd")), false},
		"by the role label, where the selector does not match":  {byZone, pooltest.Node("n", pooltest.Role("gold")), true},
		"not by a selected label that a pool put there":         {byZone, pooltest.Node("n", putByPool("zone", "a"), pooltest.HasLabel("disk", "ssd")), false},
		"not by an empty selector":                              {pooltest.Pool("gold", func(p *nodesv1.NodePool) { p.Spec.NodeSelector = map[string]nodesv1.LabelValue{} }), pooltest.Node("n", pooltest.HasLabel("zone", "a")), false},
		"by a selector for an empty value":                      {pooltest.Pool("gold", pooltest.Selects("zone", "")), pooltest.Node("n", pooltest.HasLabel("zone", "")), true},
		"not by a selector for an empty value of a missing key": {pooltest.Pool("gold", pooltest.Selects("zone", "")), pooltest.Node("n"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Belongs(c.pool, c.node, LedgerOf(c.node)); got != c.want {
				t.Errorf("expected the node to belong: %t, got %t", c.want, got)
			}
		})
	}
}

// story describes what happens to one node, and the labels, annotations and taints that are expected at the end.
type story struct {
	node      *corev1.Node
	pools     []*nodesv1.NodePool
	then      []func(*world)
	labels    map[string]string // expected labels, without role labels
	notes     map[string]string // expected annotations, without the ledger annotation
	taints    []string
	conflicts []string
	withheld  []string
}

func edit(pools ...*nodesv1.NodePool) func(*world) { return func(w *world) { w.have(pools...) } }
func drop(names ...string) func(*world)            { return func(w *world) { w.drop(names...) } }
func hand(options ...pooltest.NodeOption) func(*world) {
	return func(w *world) { w.change(options...) }
}

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
	pooltest.Same(t, "labels of the node", s.labels, labels, empty)
	pooltest.Same(t, "annotations of the node", s.notes, bare(w.node).Annotations, empty)
	pooltest.Same(t, "taints of the node", s.taints, pooltest.TaintsOf(w.node), empty)
	d := w.desired()
	pooltest.Same(t, "conflicts", s.conflicts, linesOf(d.Conflicts), empty)
	var withheld []string
	for _, h := range d.Withheld {
		withheld = append(withheld, h.Pool+": "+h.item.Key)
	}
	pooltest.Same(t, "withheld taints", s.withheld, withheld, empty)
}

func TestWhatAPoolWantsIsPutOnChangedAndTakenOff(t *testing.T) {
	full := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsAnnotation("note", "x"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule))
	carried := story{labels: pooltest.LabelMap{"tier": "gold"}, notes: pooltest.LabelMap{"note": "x"}, taints: []string{"only=gold:NoSchedule"}}
	node := pooltest.Node("n", pooltest.Role("gold"))
	for name, s := range map[string]story{
		"a member carries what the pool wants": {
			node: node, pools: []*nodesv1.NodePool{full},
			labels: carried.labels, notes: carried.notes, taints: carried.taints,
		},
		"a node that is no member stays as it is": {node: pooltest.Node("n"), pools: []*nodesv1.NodePool{full}},
		"a changed spec changes the node": {
			node: node, pools: []*nodesv1.NodePool{full},
			then:   []func(*world){edit(pooltest.Pool("gold", pooltest.WantsLabel("tier", "platinum"), pooltest.WantsAnnotation("note", "y"), pooltest.WantsTaint("only", "platinum", pooltest.NoSchedule)))},
			labels: pooltest.LabelMap{"tier": "platinum"}, notes: pooltest.LabelMap{"note": "y"}, taints: []string{"only=platinum:NoSchedule"},
		},
		"what is no longer in the spec goes": {
			node: node, pools: []*nodesv1.NodePool{full}, then: []func(*world){edit(pooltest.Pool("gold"))},
		},
		"a taint whose effect changes is another taint": {
			node: node, pools: []*nodesv1.NodePool{full},
			then:   []func(*world){edit(pooltest.Pool("gold", pooltest.WantsTaint("only", "gold", pooltest.NoExecute)))},
			taints: []string{"only=gold:NoExecute"},
		},
		"one key can have several effects": {
			node: node, pools: []*nodesv1.NodePool{pooltest.Pool("gold", pooltest.WantsTaint("only", "a", pooltest.NoSchedule), pooltest.WantsTaint("only", "b", pooltest.NoExecute))},
			taints: []string{"only=b:NoExecute", "only=a:NoSchedule"},
		},
		"a node that leaves is as it was": {
			node: node, pools: []*nodesv1.NodePool{full}, then: []func(*world){hand(pooltest.LacksRole("gold"))},
		},
		"a node whose pool goes is as it was": {
			node: node, pools: []*nodesv1.NodePool{full}, then: []func(*world){drop("gold")},
		},
		"a node whose pool vanished without a finalizer is as it was": {
			node: node, pools: []*nodesv1.NodePool{full}, then: []func(*world){func(w *world) { delete(w.pools, "gold") }},
		},
		"a node that a selector brought and that matches no longer is as it was": {
			node: pooltest.Node("n", pooltest.HasLabel("zone", "a")), pools: []*nodesv1.NodePool{pooltest.Pool("gold", pooltest.Selects("zone", "a"), pooltest.WantsLabel("tier", "gold"))},
			then:   []func(*world){hand(pooltest.HasLabel("zone", "b"))},
			labels: pooltest.LabelMap{"zone": "b"},
		},
		"what another client changed is put back": {
			node: node, pools: []*nodesv1.NodePool{full},
			then:   []func(*world){hand(pooltest.HasLabel("tier", "brass"), pooltest.HasAnnotation("note", "z"), func(n *corev1.Node) { n.Spec.Taints[0].Value = "brass" })},
			labels: carried.labels, notes: carried.notes, taints: carried.taints,
		},
		"what another client removed is put back": {
			node: node, pools: []*nodesv1.NodePool{full},
			then:   []func(*world){hand(pooltest.LacksLabel("tier"), func(n *corev1.Node) { delete(n.Annotations, "note"); n.Spec.Taints = nil })},
			labels: carried.labels, notes: carried.notes, taints: carried.taints,
		},
	} {
		t.Run(name, s.run)
	}
}

func TestAMemberBySelectorGetsTheRoleLabelAndLosesItAgain(t *testing.T) {
	roleLabel := nodesv1.RolePrefix + "gold"
	w := newWorld(t, pooltest.Node("n", pooltest.HasLabel("zone", "a")), pooltest.Pool("gold", pooltest.Selects("zone", "a")))
	w.settle()
	if _, ok := w.node.Labels[roleLabel]; !ok {
		t.Fatal("expected the role label, by which the RuntimeClass selects, on a member by selector")
	}
	w.change(pooltest.HasLabel("zone", "b"))
	w.settle()
	if _, ok := w.node.Labels[roleLabel]; ok {
		t.Error("expected the role label, which the pool put there, to go with the membership")
	}
}

func TestTwoPoolsCannotKeepEachOthersMembers(t *testing.T) {
	// The second pool selects nodes by a label that the first pool sets. Such a label must not make the node a member
	// of the second pool.
	w := newWorld(t, pooltest.Node("n", pooltest.HasLabel("a", "1")),
		pooltest.Pool("first", pooltest.Selects("a", "1"), pooltest.WantsLabel("b", "1")),
		pooltest.Pool("second", pooltest.Selects("b", "1"), pooltest.WantsLabel("c", "1")))
	w.settle()
	pooltest.Same(t, "pools of the node", []string{"first"}, w.desired().Pools)
}

func TestTheRoleLabelOfAnAdministratorStays(t *testing.T) {
	w := newWorld(t, pooltest.Node("n", pooltest.Role("gold")), pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold")))
	w.settle()
	w.drop("gold")
	pooltest.Same(t, "the node", bare(pooltest.Node("n", pooltest.Role("gold"))), bare(w.node))
}

// Regression: the operator in the tutorial article that this API comes from removed every label and taint without
// "kubernetes" in its key.
func TestASettingThatAnotherOwnerPutOnANodeFirstIsTheirs(t *testing.T) {
	wants := func(value string) []*nodesv1.NodePool {
		return []*nodesv1.NodePool{pooltest.Pool("gold", pooltest.WantsLabel("tier", value), pooltest.WantsAnnotation("note", value), pooltest.WantsTaint("only", value, pooltest.NoSchedule))}
	}
	node := pooltest.Node("n", pooltest.Role("gold"), pooltest.HasLabel("tier", "theirs"), pooltest.HasAnnotation("note", "theirs"), pooltest.HasTaint("only", "theirs", pooltest.NoSchedule))
	theirs := story{labels: pooltest.LabelMap{"tier": "theirs"}, notes: pooltest.LabelMap{"note": "theirs"}, taints: []string{"only=theirs:NoSchedule"}}
	conflicts := []string{"gold wants note=ours, another owner has theirs", "gold wants tier=ours, another owner has theirs", "gold wants only:NoSchedule=ours, another owner has theirs"}
	for name, s := range map[string]story{
		"with the same value it is shared": {
			node: node, pools: wants("theirs"), labels: theirs.labels, notes: theirs.notes, taints: theirs.taints,
		},
		"what was shared is left behind when the pool goes": {
			node: node, pools: wants("theirs"), then: []func(*world){drop("gold")},
			labels: theirs.labels, notes: theirs.notes, taints: theirs.taints,
		},
		"what was shared is left behind when the node leaves": {
			node: node, pools: wants("theirs"), then: []func(*world){hand(pooltest.LacksRole("gold"))},
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
			then:   []func(*world){hand(pooltest.LacksLabel("tier"), func(n *corev1.Node) { delete(n.Annotations, "note"); n.Spec.Taints = nil })},
			labels: pooltest.LabelMap{"tier": "ours"}, notes: pooltest.LabelMap{"note": "ours"}, taints: []string{"only=ours:NoSchedule"},
		},
		"the labels, annotations and taints of others survive joining and leaving, in their order": {
			node: pooltest.Node("n", pooltest.Role("gold"), pooltest.HasLabel("topology.ebs.csi.aws.com/zone", "a"), pooltest.HasLabel("a", "b"), pooltest.HasAnnotation("alpha", "x"),
				pooltest.HasTaint("ToBeDeletedByClusterAutoscaler", "1", pooltest.NoSchedule), pooltest.HasTaint("node.kubernetes.io/not-ready", "", pooltest.NoExecute), pooltest.HasTaint("a", "", pooltest.NoSchedule)),
			pools: wants("ours"), then: []func(*world){drop("gold")},
			labels: pooltest.LabelMap{"topology.ebs.csi.aws.com/zone": "a", "a": "b"}, notes: pooltest.LabelMap{"alpha": "x"},
			taints: []string{"ToBeDeletedByClusterAutoscaler=1:NoSchedule", "node.kubernetes.io/not-ready=:NoExecute", "a=:NoSchedule"},
		},
		"a role label with a value is a conflict": {
			node: pooltest.Node("n", pooltest.HasLabel(nodesv1.RolePrefix+"gold", "true")), pools: []*nodesv1.NodePool{pooltest.Pool("gold")},
			conflicts: []string{"gold wants node-role.kubernetes.io/gold=, another owner has true"},
		},
	} {
		t.Run(name, s.run)
	}
}

// Regression: in the operator of the tutorial article that this API comes from, two pools that matched the same node
// deleted each other's labels.
func TestSeveralPoolsOnOneNode(t *testing.T) {
	node := pooltest.Node("n", pooltest.Role("a"), pooltest.Role("b"), pooltest.Role("c"))
	tier := func(pool, value string, options ...pooltest.PoolOption) *nodesv1.NodePool {
		return pooltest.Pool(pool, append(options, pooltest.WantsLabel("tier", value))...)
	}
	loses := func(loser, wanted, winner, found string) []string {
		return []string{fmt.Sprintf("%s wants tier=%s, %s has %s", loser, wanted, winner, found)}
	}
	for name, s := range map[string]story{
		"the node carries what all of them want": {
			node: node, pools: []*nodesv1.NodePool{pooltest.Pool("a", pooltest.WantsLabel("x", "1"), pooltest.WantsTaint("t", "a", pooltest.NoSchedule)), pooltest.Pool("b", pooltest.WantsLabel("y", "2"), pooltest.WantsTaint("t", "b", pooltest.NoExecute))},
			labels: pooltest.LabelMap{"x": "1", "y": "2"}, taints: []string{"t=b:NoExecute", "t=a:NoSchedule"},
		},
		"equal settings share": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1"), tier("b", "1")}, labels: pooltest.LabelMap{"tier": "1"},
		},
		"what is shared stays while one still wants it": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1"), tier("b", "1")}, then: []func(*world){drop("a")},
			labels: pooltest.LabelMap{"tier": "1"},
		},
		"what is shared goes with the last one": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1"), tier("b", "1")}, then: []func(*world){drop("a"), drop("b")},
		},
		"of different settings the older pool's wins": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", pooltest.Created(2)), tier("b", "2", pooltest.Created(1))},
			labels: pooltest.LabelMap{"tier": "2"}, conflicts: loses("a", "1", "b", "2"),
		},
		"of pools of one age the name decides": {
			node: node, pools: []*nodesv1.NodePool{tier("b", "2"), tier("a", "1")},
			labels: pooltest.LabelMap{"tier": "1"}, conflicts: loses("b", "2", "a", "1"),
		},
		"an empty value has no privilege": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", pooltest.Created(1)), tier("b", "", pooltest.Created(2))},
			labels: pooltest.LabelMap{"tier": "1"}, conflicts: loses("b", "", "a", "1"),
		},
		"the one that holds it keeps it from an older one": {
			node: node, pools: []*nodesv1.NodePool{tier("b", "2", pooltest.Created(2))}, then: []func(*world){edit(tier("a", "1", pooltest.Created(1)))},
			labels: pooltest.LabelMap{"tier": "2"}, conflicts: loses("a", "1", "b", "2"),
		},
		"the one that holds it may change its mind": {
			node: node, pools: []*nodesv1.NodePool{tier("b", "2", pooltest.Created(2))},
			then:   []func(*world){edit(tier("a", "1", pooltest.Created(1))), edit(tier("b", "3", pooltest.Created(2)))},
			labels: pooltest.LabelMap{"tier": "3"}, conflicts: loses("a", "1", "b", "3"),
		},
		"the loser wins when the winner goes": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", pooltest.Created(1)), tier("b", "2", pooltest.Created(2))}, then: []func(*world){drop("a")},
			labels: pooltest.LabelMap{"tier": "2"},
		},
		"the loser wins when the winner no longer wants it": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", pooltest.Created(1)), tier("b", "2", pooltest.Created(2))}, then: []func(*world){edit(pooltest.Pool("a", pooltest.Created(1)))},
			labels: pooltest.LabelMap{"tier": "2"},
		},
		"the loser wins when the node leaves the winner": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", pooltest.Created(1)), tier("b", "2", pooltest.Created(2))}, then: []func(*world){hand(pooltest.LacksRole("a"))},
			labels: pooltest.LabelMap{"tier": "2"},
		},
		"of three, the oldest loser wins when the winner goes": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", pooltest.Created(1)), tier("b", "2", pooltest.Created(3)), tier("c", "3", pooltest.Created(2))}, then: []func(*world){drop("a")},
			labels: pooltest.LabelMap{"tier": "3"}, conflicts: loses("b", "2", "c", "3"),
		},
		"of two that share, the one that changes its setting loses, even the older one": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", pooltest.Created(1)), tier("b", "1", pooltest.Created(2))}, then: []func(*world){edit(tier("a", "2", pooltest.Created(1)))},
			labels: pooltest.LabelMap{"tier": "1"}, conflicts: loses("a", "2", "b", "1"),
		},
		"of two that share and both change their setting, the older one wins": {
			node: node, pools: []*nodesv1.NodePool{tier("a", "1", pooltest.Created(2)), tier("b", "1", pooltest.Created(1))}, then: []func(*world){edit(tier("a", "2", pooltest.Created(2)), tier("b", "3", pooltest.Created(1)))},
			labels: pooltest.LabelMap{"tier": "3"}, conflicts: loses("a", "2", "b", "3"),
		},
		"a holder that wants another value wins over an older pool that wants the value it had": {
			node: node, pools: []*nodesv1.NodePool{tier("b", "1", pooltest.Created(2))}, then: []func(*world){edit(tier("b", "2", pooltest.Created(2)), tier("a", "1", pooltest.Created(1)))},
			labels: pooltest.LabelMap{"tier": "2"}, conflicts: loses("a", "1", "b", "2"),
		},
		"all losers report a conflict with another owner": {
			node: pooltest.Node("n", pooltest.Role("a"), pooltest.Role("b"), pooltest.HasLabel("tier", "0")), pools: []*nodesv1.NodePool{tier("a", "1"), tier("b", "2")},
			labels: pooltest.LabelMap{"tier": "0"}, conflicts: append(loses("a", "1", "another owner", "0"), loses("b", "2", "another owner", "0")...),
		},
		"a taint of one key and effect is one item": {
			node: node, pools: []*nodesv1.NodePool{pooltest.Pool("a", pooltest.WantsTaint("t", "1", pooltest.NoSchedule)), pooltest.Pool("b", pooltest.WantsTaint("t", "2", pooltest.NoSchedule))},
			taints: []string{"t=1:NoSchedule"}, conflicts: []string{"b wants t:NoSchedule=2, a has 1"},
		},
	} {
		t.Run(name, s.run)
	}
}

func TestTheArticlesPoolsOnOneNode(t *testing.T) {
	node := pooltest.Node("n", pooltest.Role("master"), pooltest.Role("test"))
	story{
		node: node, pools: pooltest.ArticlePools(t, "../testdata/nodepool.yaml"),
		// Both pools were created within the same second, so the name decides.
		labels: pooltest.LabelMap{"node-pool.lailin.xyz/master": "8", "node-pool.lailin.xyz/test": "2"},
		taints: []string{"node-pool.lailin.xyz=master:NoSchedule"},
		conflicts: []string{
			"test wants node-pool.lailin.xyz/test=, master has 2",
			"test wants node-pool.lailin.xyz:NoSchedule=test, master has master",
		},
	}.run(t)
	story{
		node: node, pools: pooltest.ArticlePools(t, "../testdata/nodepool.yaml"),
		then:      []func(*world){edit(pooltest.ArticlePools(t, "../testdata/nodepool-updated.yaml")...)},
		labels:    pooltest.LabelMap{"node-pool.lailin.xyz/master": "10", "node-pool.lailin.xyz/test": ""},
		taints:    []string{"node-pool.lailin.xyz=master:NoSchedule"},
		conflicts: []string{"test wants node-pool.lailin.xyz:NoSchedule=test, master has master"},
	}.run(t)
}

func TestAPoolThatIsGoingAwayOrFrozen(t *testing.T) {
	node := pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("new"))
	gold := func(value string, options ...pooltest.PoolOption) *nodesv1.NodePool {
		return pooltest.Pool("gold", append(options, pooltest.WantsLabel("tier", value), pooltest.WantsTaint("only", value, pooltest.NoSchedule))...)
	}
	held := story{labels: pooltest.LabelMap{"tier": "1"}, taints: []string{"only=1:NoSchedule"}}
	for name, s := range map[string]story{
		"one that is going away has no say": {
			node: node, pools: []*nodesv1.NodePool{gold("1", pooltest.BeingDeleted)},
		},
		"one that goes away while in dry run is cleaned up after": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", pooltest.InDryRun(), pooltest.BeingDeleted))},
		},
		"one that goes away while paused keeps what it holds until the pause ends": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", pooltest.IsPaused(), pooltest.BeingDeleted))},
			labels: held.labels, taints: held.taints,
		},
		"one that goes away is cleaned up after when the pause ends": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", pooltest.IsPaused(), pooltest.BeingDeleted)), edit(gold("1", pooltest.BeingDeleted))},
		},
		"a new one that is paused puts nothing on": {node: node, pools: []*nodesv1.NodePool{gold("1", pooltest.IsPaused())}},
		"a new one in dry run puts nothing on":     {node: node, pools: []*nodesv1.NodePool{gold("1", pooltest.InDryRun())}},
		"a paused one keeps what it holds when its spec changes": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("2", pooltest.IsPaused()))},
			labels: held.labels, taints: held.taints,
		},
		"one in dry run keeps what it holds when its spec changes": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("2", pooltest.InDryRun()))},
			labels: held.labels, taints: held.taints,
		},
		"a paused one keeps what it holds when its spec no longer has it": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(pooltest.Pool("gold", pooltest.IsPaused()))},
			labels: held.labels, taints: held.taints,
		},
		"a paused one keeps a node that left": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", pooltest.IsPaused())), hand(pooltest.LacksRole("gold"))},
			labels: held.labels, taints: held.taints,
		},
		"the node leaves when the pause ends": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("1", pooltest.IsPaused())), hand(pooltest.LacksRole("gold")), edit(gold("1"))},
		},
		"what waited is done when the pause ends": {
			node: node, pools: []*nodesv1.NodePool{gold("1")}, then: []func(*world){edit(gold("2", pooltest.IsPaused())), edit(gold("2"))},
			labels: pooltest.LabelMap{"tier": "2"}, taints: []string{"only=2:NoSchedule"},
		},
		"a frozen holder is not outdone by another pool": {
			node: node, pools: []*nodesv1.NodePool{gold("1", pooltest.Created(2))},
			then:   []func(*world){edit(gold("1", pooltest.Created(2), pooltest.IsPaused()), pooltest.Pool("new", pooltest.Created(1), pooltest.WantsLabel("tier", "9")))},
			labels: held.labels, taints: held.taints, conflicts: []string{"new wants tier=9, gold has 1"},
		},
		"an annotation with another value than true freezes nothing": {
			node: node, pools: []*nodesv1.NodePool{gold("1", pooltest.PoolAnnotation("opcrew.io/paused", "false"))},
			labels: held.labels, taints: held.taints,
		},
	} {
		t.Run(name, s.run)
	}
}

func TestNoExecuteIsWithheldFromTheControlPlane(t *testing.T) {
	node := pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("control-plane"))
	gold := pooltest.Pool("gold", pooltest.WantsTaint("only", "gold", pooltest.NoExecute), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule), pooltest.WantsLabel("tier", "gold"))
	allowed := gold.DeepCopy()
	pooltest.AllowsNoExecute(allowed)
	both := []string{"only=gold:NoExecute", "only=gold:NoSchedule"}
	for name, s := range map[string]story{
		"the rest is put on": {
			node: node, pools: []*nodesv1.NodePool{gold}, labels: pooltest.LabelMap{"tier": "gold"}, taints: []string{"only=gold:NoSchedule"},
			withheld: []string{"gold: only:NoExecute"},
		},
		"it is put on when the pool allows it": {
			node: node, pools: []*nodesv1.NodePool{allowed}, labels: pooltest.LabelMap{"tier": "gold"}, taints: both,
		},
		"it is put on other nodes": {
			node: pooltest.Node("n", pooltest.Role("gold")), pools: []*nodesv1.NodePool{gold}, labels: pooltest.LabelMap{"tier": "gold"}, taints: both,
		},
		"it stays on a node that becomes control plane later": {
			node: pooltest.Node("n", pooltest.Role("gold")), pools: []*nodesv1.NodePool{gold}, then: []func(*world){hand(pooltest.Role("control-plane"))},
			labels: pooltest.LabelMap{"tier": "gold"}, taints: both,
		},
		"it is shared, not withheld, where another owner set it": {
			node: pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("control-plane"), pooltest.HasTaint("only", "gold", pooltest.NoExecute)), pools: []*nodesv1.NodePool{gold},
			labels: pooltest.LabelMap{"tier": "gold"}, taints: both,
		},
		"an allowance of another pool holds as long as that pool": {
			node: pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("other"), pooltest.Role("control-plane")), pools: []*nodesv1.NodePool{gold, pooltest.Pool("other", pooltest.AllowsNoExecute, pooltest.WantsTaint("only", "gold", pooltest.NoExecute))},
			then:   []func(*world){edit(), drop("other")},
			labels: pooltest.LabelMap{"tier": "gold"}, taints: []string{"only=gold:NoSchedule"}, withheld: []string{"gold: only:NoExecute"},
		},
		"nothing is withheld where another pool may put it on": {
			node: pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("other"), pooltest.Role("control-plane")), pools: []*nodesv1.NodePool{gold, pooltest.Pool("other", pooltest.AllowsNoExecute, pooltest.WantsTaint("only", "gold", pooltest.NoExecute))},
			then:   []func(*world){edit()},
			labels: pooltest.LabelMap{"tier": "gold"}, taints: both,
		},
		"an allowance of another pool does not count": {
			node: pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("other"), pooltest.Role("control-plane")), pools: []*nodesv1.NodePool{gold, pooltest.Pool("other", pooltest.AllowsNoExecute)},
			labels: pooltest.LabelMap{"tier": "gold"}, taints: []string{"only=gold:NoSchedule"}, withheld: []string{"gold: only:NoExecute"},
		},
	} {
		t.Run(name, s.run)
	}
}

// Regression: a conflict over one taint removed taints of Kubernetes.
func TestTaintsOfOthersKeepTheirOrderAndTimes(t *testing.T) {
	node := pooltest.Node("n", pooltest.Role("gold"), pooltest.HasTaint("z", "", pooltest.NoSchedule), pooltest.HasTaint("node.kubernetes.io/unreachable", "", pooltest.NoExecute), pooltest.HasTaint("a", "", pooltest.NoSchedule))
	node.Spec.Taints[1].TimeAdded = &pooltest.SomeTime
	w := newWorld(t, node, pooltest.Pool("gold", pooltest.WantsTaint("m", "1", pooltest.NoSchedule)))
	w.settle()
	pooltest.Same(t, "taints", append(node.DeepCopy().Spec.Taints, corev1.Taint{Key: "m", Value: "1", Effect: pooltest.NoSchedule}), w.node.Spec.Taints)
	w.change(pooltest.HasTaint("later", "", pooltest.NoSchedule))
	w.have(pooltest.Pool("gold", pooltest.WantsTaint("m", "2", pooltest.NoSchedule)))
	w.settle()
	pooltest.Same(t, "taints after a change in place", []string{"z=:NoSchedule", "node.kubernetes.io/unreachable=:NoExecute", "a=:NoSchedule", "m=2:NoSchedule", "later=:NoSchedule"}, pooltest.TaintsOf(w.node))
	w.drop("gold")
	pooltest.Same(t, "taints at the end", append(node.DeepCopy().Spec.Taints, corev1.Taint{Key: "later", Effect: pooltest.NoSchedule}), w.node.Spec.Taints)
}
