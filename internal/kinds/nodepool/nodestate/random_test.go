// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

var (
	seed      = flag.Uint64("seed", 1, "seed of the random histories")
	histories = flag.Uint64("histories", 600, "number of random histories")
)

// history simulates random actions of users and other owners on one node and its pools. twin is a copy of the node
// without opcrew: it gets only the changes of others. When opcrew has removed all its settings at the end, the node
// must equal the twin.
type history struct {
	*world
	*rand.Rand
	twin *corev1.Node
	log  []string
	age  int
}

func (h *history) pick(from ...string) string { return from[h.IntN(len(from))] }

func (h *history) key() string   { return h.pick("a", "b", "example.com/c", "d~e/f") }
func (h *history) value() string { return h.pick("", "1", "2") }
func (h *history) effect() corev1.TaintEffect {
	return corev1.TaintEffect(h.pick(string(pooltest.NoSchedule), string(pooltest.NoExecute)))
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

// spec gives a NodePool random settings.
func (h *history) spec(p *nodesv1.NodePool) {
	p.Spec = nodesv1.NodePoolSpec{AllowNoExecuteOnControlPlane: h.IntN(2) == 0}
	for range h.IntN(3) {
		pooltest.WantsLabel(h.key(), h.value())(p)
	}
	for range h.IntN(3) {
		pooltest.WantsAnnotation(h.key(), h.value())(p)
	}
	seen := map[Item]bool{}
	for range h.IntN(3) {
		key, effect := h.key(), h.effect()
		if i := taintItem(key, effect); !seen[i] {
			seen[i] = true
			pooltest.WantsTaint(key, h.value(), effect)(p)
		}
	}
	if h.IntN(4) == 0 {
		pooltest.Selects(h.pick("zone", "a"), h.value())(p)
	}
	p.Generation++
}

var poolNames = []string{"red", "green", "blue"}

func (h *history) editPool() {
	name := h.pick(poolNames...)
	p := h.pools[name]
	if p == nil {
		h.age += h.IntN(2)
		p = pooltest.Pool(name, pooltest.Created(h.age))
	}
	p = p.DeepCopy()
	switch h.IntN(5) {
	case 0:
		p.Annotations = nil
	case 1:
		h.pickOption(pooltest.IsPaused(), pooltest.InDryRun())(p)
	default:
		h.spec(p)
	}
	h.note("pool %s: %v %v", name, p.Annotations, p.Spec)
	h.have(p)
}

func (h *history) pickOption(options ...pooltest.PoolOption) pooltest.PoolOption {
	return options[h.IntN(len(options))]
}

func (h *history) deletePool() {
	if p := h.pools[h.pick(poolNames...)]; p != nil {
		h.note("pool %s goes", p.Name)
		gone := p.DeepCopy()
		pooltest.BeingDeleted(gone)
		gone.Annotations = nil
		h.have(gone)
		h.settle()
		delete(h.pools, p.Name)
	}
}

// membership changes role labels and the label that selectors use, as an administrator would.
func (h *history) membership() {
	key := h.pick("zone", nodesv1.RolePrefix+"red", nodesv1.RolePrefix+"green", nodesv1.RolePrefix+"blue", controlPlaneLabel)
	h.changeLabelElsewhere(key)
}

// changeLabelElsewhere changes a label of the node as another client would. If opcrew has set the label, opcrew will
// restore its own value. Therefore, the twin (a copy of the node without opcrew) does not get the change in this case.
func (h *history) changeLabelElsewhere(key string) {
	value, remove := h.value(), h.IntN(2) == 0
	held := LedgerOf(h.node).holds(labelItem(key))
	h.note("label %s=%s, removed: %t, ours: %t", key, value, remove, held)
	h.both(held, func(n *corev1.Node) {
		if remove {
			delete(n.Labels, key)
		} else {
			pooltest.HasLabel(key, value)(n)
		}
	})
}

// adopt copies values to the twin (a copy of the node without opcrew): values that another owner wrote over settings
// that no pool requires any more, because opcrew keeps these values. adopt returns true if it copied a value. Then a
// second patch may be necessary, because the value may make the node a member of a pool.
func (h *history) adopt() bool {
	owned, d := cmp.Or(ownedFields(h.node), fieldpath.NewSet()), h.desired()
	adopted := false
	for i := range LedgerOf(h.node).Items {
		value, there := valueOn(h.node, i)
		if d.holds(i) || !there || removable(i, owned) {
			continue
		}
		adopted = true
		switch i.Kind {
		case nodesv1.ConflictLabel:
			pooltest.HasLabel(i.Key, value)(h.twin)
		case nodesv1.ConflictAnnotation:
			pooltest.HasAnnotation(i.Key, value)(h.twin)
		}
	}
	return adopted
}

// both applies a change to the node and to the twin (a copy of the node without opcrew). If held is true, opcrew has
// set the label, annotation or taint that changes, and will restore it. In this case, both does not change the twin.
func (h *history) both(held bool, change pooltest.NodeOption) {
	h.change(change)
	if !held {
		change(h.twin)
	}
}

func (h *history) changeAnnotationElsewhere() {
	key := h.key()
	value, remove := h.value(), h.IntN(2) == 0
	held := LedgerOf(h.node).holds(annotationItem(key))
	h.note("annotation %s=%s, removed: %t, ours: %t", key, value, remove, held)
	h.both(held, func(n *corev1.Node) {
		if remove {
			delete(n.Annotations, key)
		} else {
			pooltest.HasAnnotation(key, value)(n)
		}
	})
}

func (h *history) changeTaintElsewhere() {
	i := taintItem(h.key(), h.effect())
	held := LedgerOf(h.node).holds(i)
	value, remove := h.value(), h.IntN(2) == 0
	h.note("taint %s=%s, removed: %t, ours: %t", i.Key, value, remove, held)
	h.both(held, func(n *corev1.Node) {
		n.Spec.Taints = withTaint(slices.Clone(n.Spec.Taints), Change{Item: i, New: value, Wanted: !remove})
	})
}

func (h *history) cordon() {
	h.node.Spec.Unschedulable = !h.node.Spec.Unschedulable
	h.twin.Spec.Unschedulable = h.node.Spec.Unschedulable
}

func (h *history) step() {
	switch h.IntN(10) {
	case 0, 1, 2:
		h.editPool()
	case 3:
		h.deletePool()
	case 4, 5:
		h.membership()
	case 6:
		h.changeLabelElsewhere(h.key())
	case 7:
		h.changeAnnotationElsewhere()
	case 8:
		h.changeTaintElsewhere()
	case 9:
		h.cordon()
	}
}

func (h *history) check() {
	h.t.Helper()
	pools := h.list()
	want := Desire(h.node, pools)
	for range 3 {
		h.Shuffle(len(pools), func(i, j int) { pools[i], pools[j] = pools[j], pools[i] })
		pooltest.Same(h.t, "what is desired, whatever the order of the pools", want, Desire(h.node, pools),
			gocmp.AllowUnexported(Desired{}, Ledger{}, Item{}, conflict{}, Withheld{}), cmpopts.EquateEmpty())
	}
	h.uniqueTaints()
	h.settle() // settle checks that one patch is enough
	h.granted()
	h.uniqueTaints()
}

// granted checks each setting of each NodePool to which the node belongs, unless the pool is paused or in dry run:
// either the node has the setting, or opcrew reports a conflict or a withheld taint.
func (h *history) granted() {
	h.t.Helper()
	held, d := LedgerOf(h.node), h.desired()
	for _, p := range h.pools {
		if Frozen(p) || !Belongs(p, h.node, held) {
			continue
		}
		for i, value := range settingsOf(p, held, nil) {
			found, there := valueOn(h.node, i)
			reported := slices.ContainsFunc(d.Conflicts, func(c conflict) bool { return c.Pool == p.Name && c.Item == i }) ||
				slices.ContainsFunc(d.Withheld, func(w Withheld) bool { return w.Pool == p.Name && w.item == i })
			if (there && found == value) == reported {
				h.t.Errorf("pool %s wants %s %s=%q, the node has %q (%t): expected it to be granted, or a reason, and not both", p.Name, i.Kind, i.Key, value, found, there)
			}
		}
	}
}

func (h *history) uniqueTaints() {
	h.t.Helper()
	seen := map[Item]bool{}
	for _, taint := range h.node.Spec.Taints {
		i := taintItem(taint.Key, taint.Effect)
		if seen[i] {
			h.t.Errorf("expected taints to be unique by key and effect, got %v", pooltest.TaintsOf(h.node))
		}
		seen[i] = true
	}
}

// The random actions may happen in any order. One patch must always be enough. When all NodePools are gone, the node
// must be as if opcrew had never run.
func TestRandomHistoriesLeaveNoTrace(t *testing.T) {
	t.Logf("go test -run %s -args -seed %d", t.Name(), *seed)
	for n := range *histories {
		h := newHistory(t, n)
		h.run(func() {})
		pooltest.Same(t, "labels at the end", bare(h.twin).Labels, bare(h.node).Labels)
		pooltest.Same(t, "annotations at the end", bare(h.twin).Annotations, h.node.Annotations, cmpopts.EquateEmpty())
		pooltest.Same(t, "taints at the end", bare(h.twin).Spec.Taints, bare(h.node).Spec.Taints, cmpopts.SortSlices(func(a, b corev1.Taint) bool {
			return a.Key+string(a.Effect) < b.Key+string(b.Effect)
		}))
		pooltest.Same(t, "cordon at the end", h.twin.Spec.Unschedulable, h.node.Spec.Unschedulable)
		if t.Failed() {
			t.Fatalf("history %d of seed %d:\n%s", n, *seed, join(h.log))
		}
	}
}

// In this test, a client sometimes removes the ledger annotation. opcrew may then leave settings behind, but must never
// change settings of other owners.
func TestRandomHistoriesWithoutALedgerHarmNoOwner(t *testing.T) {
	t.Logf("go test -run %s -args -seed %d", t.Name(), *seed)
	for n := range *histories {
		h := newHistory(t, n)
		h.run(func() {
			if h.IntN(3) == 0 {
				h.note("the ledger is gone")
				h.change(func(n *corev1.Node) { delete(n.Annotations, LedgerAnnotation) })
				h.settle() // otherwise opcrew could not distinguish the next change of another owner from its own
			}
		})
		for key, value := range h.twin.Labels {
			pooltest.Same(t, "label "+key+" of another owner", value, h.node.Labels[key])
		}
		for key, value := range h.twin.Annotations {
			pooltest.Same(t, "annotation "+key+" of another owner", value, h.node.Annotations[key])
		}
		for _, taint := range pooltest.TaintsOf(h.twin) {
			// A taint of another owner cannot be distinguished from an equal taint that a NodePool sets.
			if strings.HasPrefix(taint, "theirs") && !slices.Contains(pooltest.TaintsOf(h.node), taint) {
				t.Errorf("expected taint %s of another owner to stay, got %v", taint, pooltest.TaintsOf(h.node))
			}
		}
		if t.Failed() {
			t.Fatalf("history %d of seed %d:\n%s", n, *seed, join(h.log))
		}
	}
}

func newHistory(t *testing.T, n uint64) *history {
	node := pooltest.Node("n", pooltest.HasLabel("kubernetes.io/hostname", "n"), pooltest.HasTaint("theirs", "", pooltest.NoSchedule))
	node.Annotations = map[string]string{"theirs": "x"}
	h := &history{world: newWorld(t, node), Rand: rand.New(rand.NewPCG(*seed, n)), twin: node.DeepCopy()}
	h.looked = h.adopt
	return h
}

func (h *history) run(also func()) {
	h.t.Helper()
	for range 1 + h.IntN(25) {
		h.step()
		if h.IntN(3) > 0 { // otherwise, several changes happen before opcrew reconciles
			h.check()
		}
		also()
	}
	h.check()
	h.drop(slices.Sorted(maps.Keys(h.unfrozen()))...)
	h.settle()
}

// unfrozen removes all pauses, because a paused pool cannot be deleted completely.
func (h *history) unfrozen() map[string]*nodesv1.NodePool {
	for name, p := range h.pools {
		p = p.DeepCopy()
		p.Annotations = nil
		h.pools[name] = p
	}
	return h.pools
}

func join(lines []string) string {
	text := ""
	for i, line := range lines {
		text += fmt.Sprintf("%3d %s\n", i, line)
	}
	return text
}
