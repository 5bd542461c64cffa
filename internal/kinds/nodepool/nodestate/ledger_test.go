// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

var ledgers = cmp.Options{cmp.AllowUnexported(Ledger{}, Item{}), cmpopts.EquateEmpty()}

func someLedger() Ledger {
	return Ledger{
		Pools: []string{"gold", "silver"},
		Items: map[Item]entry{
			labelItem("example.com/b"):                      {Value: "2", Pools: []string{"gold"}},
			labelItem("example.com/a"):                      {Value: "", Pools: []string{"gold", "silver"}},
			annotationItem("example.com/a"):                 {Value: "text with \"quotes\"", Pools: []string{"silver"}},
			taintItem("example.com/a", pooltest.NoSchedule): {Value: "x", Pools: []string{"gold"}},
			taintItem("example.com/a", pooltest.NoExecute):  {Value: "y", Pools: []string{"gold"}},
			labelItem(nodesv1.RolePrefix + "silver"):        {Value: "", Pools: []string{"silver"}},
			annotationItem("tilde~and/slash"):               {Value: "~/", Pools: []string{"gold"}},
			taintItem("plain", corev1.TaintEffect("")):      {Value: "", Pools: []string{"gold"}},
		},
	}
}

func TestALedgerReadsBackAsItWasWritten(t *testing.T) {
	want := someLedger()
	got := LedgerOf(pooltest.Node("n", pooltest.HasLedger(want.String())))
	pooltest.Same(t, "the ledger", want, got, ledgers...)
}

// Activity reads the record too, to say for what a run on the node waits.
func TestTheRecordOfANodeNamesThePoolsThatItJoins(t *testing.T) {
	l := someLedger()
	l.Marks = Marks{"silver": {Phase: Joining}, "gold": {Phase: Joining}, "iron": {Phase: Joined}, "lead": {Phase: Leaving}}
	pooltest.Same(t, "pools", []string{"gold", "silver"}, claims.JoiningPools(pooltest.Node("n", pooltest.HasLedger(l.String()))))
	pooltest.Same(t, "pools without a pipeline", 0, len(claims.JoiningPools(pooltest.Node("n", pooltest.HasLedger(someLedger().String())))))
}

func TestEqualLedgersAreEqualTexts(t *testing.T) {
	first := someLedger().String()
	for range 20 { // repeated, because map iteration order is random
		if again := someLedger().String(); again != first {
			t.Fatalf("expected the same text for the same ledger, got\n%s\nand\n%s", first, again)
		}
	}
}

func TestAnEmptyLedgerIsNoText(t *testing.T) {
	if got := (Ledger{}).String(); got != "" {
		t.Errorf("expected no annotation for an empty ledger, got %q", got)
	}
	if got := (Ledger{Pools: []string{"gold"}}).String(); got == "" {
		t.Error("expected a node of a pool that wants nothing to remember the pool")
	}
}

func TestALedgerMentionsPoolsThatCountTheNodeOrHoldSomethingOnIt(t *testing.T) {
	l := Ledger{Pools: []string{"member"}, Items: map[Item]entry{labelItem("a"): {Pools: []string{"holder", "other"}}}}
	for name, want := range map[string]bool{"member": true, "holder": true, "other": true, "unrelated": false} {
		if got := l.Mentions(name); got != want {
			t.Errorf("mentions %s: expected %t, got %t", name, want, got)
		}
	}
	pooltest.Same(t, "all pools, sorted", []string{"holder", "member", "other"}, l.AllPools())
}

func TestAnItemOfATaintIsKeyAndEffect(t *testing.T) {
	i := taintItem("example.com/a", pooltest.NoExecute)
	pooltest.Same(t, "the taint", corev1.Taint{Key: "example.com/a", Value: "v", Effect: pooltest.NoExecute}, i.Taint("v"))
	if i == taintItem("example.com/a", pooltest.NoSchedule) {
		t.Error("expected the same key with another effect to be another taint")
	}
}

func TestItemsAreOrderedByKindAndKey(t *testing.T) {
	got := sortedItems(map[Item]int{labelItem("a"): 0, taintItem("a", pooltest.NoSchedule): 0, annotationItem("b"): 0, annotationItem("a"): 0, labelItem("0"): 0})
	want := []Item{annotationItem("a"), annotationItem("b"), labelItem("0"), labelItem("a"), taintItem("a", pooltest.NoSchedule)}
	pooltest.Same(t, "the order", want, got, ledgers...)
}

// If another client removed or corrupted the ledger annotation, opcrew recovers the ledger from managedFields.
func TestALostLedgerIsRecoveredFromWhatTheServerKnows(t *testing.T) {
	ours := pooltest.WrittenByUs(
		fieldpath.MakePathOrDie("metadata", "labels", "example.com/ours"),
		fieldpath.MakePathOrDie("metadata", "labels", "example.com/gone"),
		fieldpath.MakePathOrDie("metadata", "annotations", "example.com/ours"),
		fieldpath.MakePathOrDie("metadata", "annotations", LedgerAnnotation),
		fieldpath.MakePathOrDie("spec", "taints"),
	)
	node := pooltest.Node("n", ours,
		pooltest.HasLabel("example.com/ours", "1"), pooltest.HasLabel("example.com/theirs", "1"),
		pooltest.HasAnnotation("example.com/ours", "2"), pooltest.HasAnnotation("example.com/theirs", "2"),
		pooltest.HasTaint("example.com/ours", "3", pooltest.NoSchedule), pooltest.HasTaint("node.kubernetes.io/not-ready", "", pooltest.NoExecute))
	want := Ledger{taintsWritten: true, Items: map[Item]entry{
		labelItem("example.com/ours"):      {Value: "1"},
		annotationItem("example.com/ours"): {Value: "2"},
	}}
	t.Run("the annotation was removed", func(t *testing.T) {
		pooltest.Same(t, "the ledger", want, LedgerOf(node), ledgers...)
	})
	for _, garbled := range []string{"", "{", "[]", `{"labels": 3}`, "not json"} {
		t.Run("the annotation was garbled to "+garbled, func(t *testing.T) {
			broken := node.DeepCopy()
			pooltest.HasAnnotation(LedgerAnnotation, garbled)(broken)
			pooltest.Same(t, "the ledger", want, LedgerOf(broken), ledgers...)
		})
	}
}

// The operator writes annotations of MachineConfig to nodes, too. A node without NodePools has no ledger.
func TestAnnotationsOfMachineConfigAreNotTakenForThoseOfPools(t *testing.T) {
	var options []pooltest.NodeOption
	var paths []fieldpath.Path
	for _, key := range []string{mcfgv1.DesiredConfigAnnotation, mcfgv1.LastAppliedDrainAnnotation, "opcrew.io/machine-order", "opcrew.io/machine-cordoned"} {
		options = append(options, pooltest.HasAnnotation(key, "x"))
		paths = append(paths, fieldpath.MakePathOrDie("metadata", "annotations", key))
	}
	w := newWorld(t, pooltest.Node("n", append(options, pooltest.WrittenByUs(paths...))...))
	w.settle()
	pooltest.Same(t, "the number of annotations", len(paths), len(w.node.Annotations))
}

// managedFields name only the last writer of the whole list of taints. That writer did not necessarily add all taints.
func TestOfTheTaintsOfALostLedgerOnlyThoseWantedJustSoAreOurs(t *testing.T) {
	ours := pooltest.WrittenByUs(fieldpath.MakePathOrDie("spec", "taints"), fieldpath.MakePathOrDie("metadata", "labels", "ours"))
	taints := []pooltest.NodeOption{pooltest.HasLabel("ours", ""), pooltest.HasTaint("same", "1", pooltest.NoSchedule), pooltest.HasTaint("other-value", "1", pooltest.NoSchedule), pooltest.HasTaint("other-effect", "1", pooltest.NoExecute), pooltest.HasTaint("unwanted", "1", pooltest.NoSchedule)}
	gold := pooltest.Pool("gold", pooltest.WantsTaint("same", "1", pooltest.NoSchedule), pooltest.WantsTaint("other-value", "2", pooltest.NoSchedule), pooltest.WantsTaint("other-effect", "1", pooltest.NoSchedule), pooltest.WantsTaint("missing", "", pooltest.NoSchedule))
	for name, c := range map[string]struct {
		node *corev1.Node
		want bool
	}{
		"the node belongs to the pool, and we wrote the list last":           {pooltest.Node("n", append(taints, pooltest.Role("gold"), ours)...), true},
		"another client wrote the list last":                                 {pooltest.Node("n", append(taints, pooltest.Role("gold"))...), false},
		"the node does not belong to the pool":                               {pooltest.Node("n", append(taints, ours)...), false},
		"nothing else of ours is there: the last pool took its ledger along": {pooltest.Node("n", append(taints, pooltest.Role("gold"), ours, pooltest.LacksLabel("ours"))...), false},
		"the ledger is there":                                                {pooltest.Node("n", append(taints, pooltest.Role("gold"), ours, pooltest.HasLedger("{}"))...), false},
	} {
		t.Run(name, func(t *testing.T) {
			held := LedgerOf(c.node)
			held.reclaimTaints(c.node, []*nodesv1.NodePool{gold})
			want := map[Item]entry{}
			if _, lost := c.node.Labels["ours"]; lost && c.node.Annotations == nil && c.node.ManagedFields != nil {
				want[labelItem("ours")] = entry{}
			}
			if c.want {
				want[taintItem("same", pooltest.NoSchedule)] = entry{Value: "1"}
			}
			pooltest.Same(t, "what is ours", want, held.Items, ledgers...)
		})
	}
}

// Regression: after the last pool removed the ledger annotation, opcrew was still recorded as the last writer of the
// taints, and took taints of other owners for its own.
func TestTaintsOfOthersOutliveTheLedger(t *testing.T) {
	autoscalers := pooltest.HasTaint("ToBeDeletedByClusterAutoscaler", "1", pooltest.NoSchedule)
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule))
	for name, last := range map[string]func(*world){
		"the node left": func(w *world) { w.change(pooltest.LacksRole("gold")) },
		"the pool went": func(w *world) { w.drop("gold") },
		"another client removed the ledger": func(w *world) {
			w.change(func(n *corev1.Node) { delete(n.Annotations, LedgerAnnotation) })
			w.settle()
			w.drop("gold")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pooltest.Node("n", pooltest.Role("gold"), autoscalers), gold)
			w.settle()
			last(w)
			w.settle()
			w.settle()
			pooltest.Same(t, "taints", []string{"ToBeDeletedByClusterAutoscaler=1:NoSchedule"}, pooltest.TaintsOf(w.node))
		})
	}
}

func TestNothingIsRecoveredThatOthersWrote(t *testing.T) {
	raw := []byte(`{"f:metadata":{"f:labels":{"f:a":{}}}}`)
	for name, entry := range map[string]metav1.ManagedFieldsEntry{
		"another manager":             {Manager: "kubectl-label", FieldsV1: metav1.NewFieldsV1(string(raw))},
		"our status of the node":      {Manager: "opcrew", Subresource: "status", FieldsV1: metav1.NewFieldsV1(string(raw))},
		"a record without fields":     {Manager: "opcrew"},
		"a record that is unreadable": {Manager: "opcrew", FieldsV1: metav1.NewFieldsV1("{")},
	} {
		t.Run(name, func(t *testing.T) {
			node := pooltest.Node("n", pooltest.HasLabel("a", "b"))
			node.ManagedFields = []metav1.ManagedFieldsEntry{entry}
			if held := LedgerOf(node); len(held.Items) > 0 {
				t.Errorf("expected nothing to be ours, got %v", held.Items)
			}
		})
	}
}

// opcrew recovers a lost ledger (its record of what pools set on a node). The recovered ledger must name the pool
// again, so that opcrew removes the settings of the pool when the pool is deleted.
func TestARecoveredLedgerGivesThePoolBackWhatItHolds(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsAnnotation("note", "x"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule))
	w := newWorld(t, pooltest.Node("n", pooltest.Role("gold")), gold)
	w.settle()
	before := w.node.DeepCopy()
	w.change(func(n *corev1.Node) { delete(n.Annotations, LedgerAnnotation) })
	w.settle()
	pooltest.Same(t, "the ledger, written again", before.Annotations[LedgerAnnotation], w.node.Annotations[LedgerAnnotation])
	w.drop("gold")
	pooltest.Same(t, "the node without the pool", pooltest.Node("n", pooltest.Role("gold")).Labels, w.node.Labels)
	pooltest.Same(t, "its annotations", 0, len(w.node.Annotations))
	pooltest.Same(t, "its taints", 0, len(w.node.Spec.Taints))
}

// Another client removes the ledger annotation, opcrew's record of what pools set. A NodePool that is paused or in dry
// run must still not change the node.
func TestAFrozenPoolKeepsWhatItHoldsWhenTheLedgerIsLost(t *testing.T) {
	for name, freeze := range map[string]pooltest.PoolOption{"paused": pooltest.IsPaused(), "dry run": pooltest.InDryRun()} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pooltest.Node("n", pooltest.Role("gold")), pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule)))
			w.settle()
			w.have(pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule), freeze))
			w.change(func(n *corev1.Node) { delete(n.Annotations, LedgerAnnotation) })
			w.settle()
			pooltest.Same(t, "label tier", "gold", w.node.Labels["tier"])
			pooltest.Same(t, "taints", []string{"only=gold:NoSchedule"}, pooltest.TaintsOf(w.node))
			w.drop("gold") // deleting a pool ends its dry run, but not its pause
			if name == "dry run" {
				pooltest.Same(t, "taints without the pool", 0, len(w.node.Spec.Taints))
			}
		})
	}
}
