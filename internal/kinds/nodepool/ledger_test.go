// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

var ledgers = cmp.Options{cmp.AllowUnexported(ledger{}, item{}), cmpopts.EquateEmpty()}

func someLedger() ledger {
	return ledger{
		pools: []string{"gold", "silver"},
		items: map[item]entry{
			labelItem("example.com/b"):                 {Value: "2", Pools: []string{"gold"}},
			labelItem("example.com/a"):                 {Value: "", Pools: []string{"gold", "silver"}},
			annotationItem("example.com/a"):            {Value: "text with \"quotes\"", Pools: []string{"silver"}},
			taintItem("example.com/a", noSchedule):     {Value: "x", Pools: []string{"gold"}},
			taintItem("example.com/a", noExecute):      {Value: "y", Pools: []string{"gold"}},
			labelItem(nodesv1.RolePrefix + "silver"):   {Value: "", Pools: []string{"silver"}},
			annotationItem("tilde~and/slash"):          {Value: "~/", Pools: []string{"gold"}},
			taintItem("plain", corev1.TaintEffect("")): {Value: "", Pools: []string{"gold"}},
		},
	}
}

func TestALedgerReadsBackAsItWasWritten(t *testing.T) {
	want := someLedger()
	got := ledgerOf(newNode("n", hasLedger(want.String())))
	same(t, "the ledger", want, got, ledgers...)
}

func TestEqualLedgersAreEqualTexts(t *testing.T) {
	first := someLedger().String()
	for range 20 { // maps are walked in another order each time
		if again := someLedger().String(); again != first {
			t.Fatalf("expected the same text for the same ledger, got\n%s\nand\n%s", first, again)
		}
	}
}

func TestAnEmptyLedgerIsNoText(t *testing.T) {
	if got := (ledger{}).String(); got != "" {
		t.Errorf("expected no annotation for an empty ledger, got %q", got)
	}
	if got := (ledger{pools: []string{"gold"}}).String(); got == "" {
		t.Error("expected a node of a pool that wants nothing to remember the pool")
	}
}

func TestALedgerMentionsPoolsThatCountTheNodeOrHoldSomethingOnIt(t *testing.T) {
	l := ledger{pools: []string{"member"}, items: map[item]entry{labelItem("a"): {Pools: []string{"holder", "other"}}}}
	for name, want := range map[string]bool{"member": true, "holder": true, "other": true, "stranger": false} {
		if got := l.mentions(name); got != want {
			t.Errorf("mentions %s: expected %t, got %t", name, want, got)
		}
	}
	same(t, "all pools, sorted", []string{"holder", "member", "other"}, l.allPools())
}

func TestAnItemOfATaintIsKeyAndEffect(t *testing.T) {
	i := taintItem("example.com/a", noExecute)
	same(t, "the taint", corev1.Taint{Key: "example.com/a", Value: "v", Effect: noExecute}, i.taint("v"))
	if i == taintItem("example.com/a", noSchedule) {
		t.Error("expected the same key with another effect to be another taint")
	}
}

func TestItemsAreOrderedByKindAndKey(t *testing.T) {
	got := sortedItems(map[item]int{labelItem("a"): 0, taintItem("a", noSchedule): 0, annotationItem("b"): 0, annotationItem("a"): 0, labelItem("0"): 0})
	want := []item{annotationItem("a"), annotationItem("b"), labelItem("0"), labelItem("a"), taintItem("a", noSchedule)}
	same(t, "the order", want, got, ledgers...)
}

// What we wrote is recovered from the API server's own record where someone removed
// or broke the annotation.
func TestALostLedgerIsRecoveredFromWhatTheServerKnows(t *testing.T) {
	ours := writtenByUs(
		fieldpath.MakePathOrDie("metadata", "labels", "example.com/ours"),
		fieldpath.MakePathOrDie("metadata", "labels", "example.com/gone"),
		fieldpath.MakePathOrDie("metadata", "annotations", "example.com/ours"),
		fieldpath.MakePathOrDie("metadata", "annotations", ledgerAnnotation),
		fieldpath.MakePathOrDie("spec", "taints"),
	)
	node := newNode("n", ours,
		hasLabel("example.com/ours", "1"), hasLabel("example.com/theirs", "1"),
		hasAnnotation("example.com/ours", "2"), hasAnnotation("example.com/theirs", "2"),
		hasTaint("example.com/ours", "3", noSchedule), hasTaint("node.kubernetes.io/not-ready", "", noExecute))
	want := ledger{taintsWritten: true, items: map[item]entry{
		labelItem("example.com/ours"):      {Value: "1"},
		annotationItem("example.com/ours"): {Value: "2"},
	}}
	t.Run("the annotation was removed", func(t *testing.T) {
		same(t, "the ledger", want, ledgerOf(node), ledgers...)
	})
	for _, garbled := range []string{"", "{", "[]", `{"labels": 3}`, "not json"} {
		t.Run("the annotation was garbled to "+garbled, func(t *testing.T) {
			broken := node.DeepCopy()
			hasAnnotation(ledgerAnnotation, garbled)(broken)
			same(t, "the ledger", want, ledgerOf(broken), ledgers...)
		})
	}
}

// The list of taints has one owner, so that who wrote it last has not put in all of it.
func TestOfTheTaintsOfALostLedgerOnlyThoseWantedJustSoAreOurs(t *testing.T) {
	ours := writtenByUs(fieldpath.MakePathOrDie("spec", "taints"), fieldpath.MakePathOrDie("metadata", "labels", "ours"))
	taints := []nodeOption{hasLabel("ours", ""), hasTaint("same", "1", noSchedule), hasTaint("other-value", "1", noSchedule), hasTaint("other-effect", "1", noExecute), hasTaint("unwanted", "1", noSchedule)}
	gold := newPool("gold", wantsTaint("same", "1", noSchedule), wantsTaint("other-value", "2", noSchedule), wantsTaint("other-effect", "1", noSchedule), wantsTaint("missing", "", noSchedule))
	for name, c := range map[string]struct {
		node *corev1.Node
		want bool
	}{
		"the node belongs to the pool, and we wrote the list last":           {newNode("n", append(taints, role("gold"), ours)...), true},
		"somebody else wrote the list last":                                  {newNode("n", append(taints, role("gold"))...), false},
		"the node does not belong to the pool":                               {newNode("n", append(taints, ours)...), false},
		"nothing else of ours is there: the last pool took its ledger along": {newNode("n", append(taints, role("gold"), ours, lacksLabel("ours"))...), false},
		"the ledger is there":                                                {newNode("n", append(taints, role("gold"), ours, hasLedger("{}"))...), false},
	} {
		t.Run(name, func(t *testing.T) {
			held := ledgerOf(c.node)
			held.reclaimTaints(c.node, []*nodesv1.NodePool{gold})
			want := map[item]entry{}
			if _, lost := c.node.Labels["ours"]; lost && c.node.Annotations == nil && c.node.ManagedFields != nil {
				want[labelItem("ours")] = entry{}
			}
			if c.want {
				want[taintItem("same", noSchedule)] = entry{Value: "1"}
			}
			same(t, "what is ours", want, held.items, ledgers...)
		})
	}
}

// Regression: the last pool takes its ledger along; what others have in the list of
// taints, which the operator wrote last, must not be taken for its own then.
func TestTaintsOfOthersOutliveTheLedger(t *testing.T) {
	autoscalers := hasTaint("ToBeDeletedByClusterAutoscaler", "1", noSchedule)
	gold := newPool("gold", wantsLabel("tier", "gold"), wantsTaint("only", "gold", noSchedule))
	for name, last := range map[string]func(*world){
		"the node left": func(w *world) { w.change(lacksRole("gold")) },
		"the pool went": func(w *world) { w.drop("gold") },
		"somebody removed the ledger": func(w *world) {
			w.change(func(n *corev1.Node) { delete(n.Annotations, ledgerAnnotation) })
			w.settle()
			w.drop("gold")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newNode("n", role("gold"), autoscalers), gold)
			w.settle()
			last(w)
			w.settle()
			w.settle()
			same(t, "taints", []string{"ToBeDeletedByClusterAutoscaler=1:NoSchedule"}, taintsOf(w.node))
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
			node := newNode("n", hasLabel("a", "b"))
			node.ManagedFields = []metav1.ManagedFieldsEntry{entry}
			if held := ledgerOf(node); len(held.items) > 0 {
				t.Errorf("expected nothing to be ours, got %v", held.items)
			}
		})
	}
}

// A label that everybody may write could else make a pool let go of, or claim, things.
func TestARecoveredLedgerGivesThePoolBackWhatItHolds(t *testing.T) {
	gold := newPool("gold", wantsLabel("tier", "gold"), wantsAnnotation("note", "x"), wantsTaint("only", "gold", noSchedule))
	w := newWorld(t, newNode("n", role("gold")), gold)
	w.settle()
	before := w.node.DeepCopy()
	w.change(func(n *corev1.Node) { delete(n.Annotations, ledgerAnnotation) })
	w.settle()
	same(t, "the ledger, written again", before.Annotations[ledgerAnnotation], w.node.Annotations[ledgerAnnotation])
	w.drop("gold")
	same(t, "the node without the pool", newNode("n", role("gold")).Labels, w.node.Labels)
	same(t, "its annotations", 0, len(w.node.Annotations))
	same(t, "its taints", 0, len(w.node.Spec.Taints))
}

// The user froze the pool; that someone else removes the ledger is no reason to
// change the node under the user's hands.
func TestAFrozenPoolKeepsWhatItHoldsWhenTheLedgerIsLost(t *testing.T) {
	for name, freeze := range map[string]poolOption{"paused": isPaused(), "dry run": inDryRun()} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newNode("n", role("gold")), newPool("gold", wantsLabel("tier", "gold"), wantsTaint("only", "gold", noSchedule)))
			w.settle()
			w.have(newPool("gold", wantsLabel("tier", "gold"), wantsTaint("only", "gold", noSchedule), freeze))
			w.change(func(n *corev1.Node) { delete(n.Annotations, ledgerAnnotation) })
			w.settle()
			same(t, "label tier", "gold", w.node.Labels["tier"])
			same(t, "taints", []string{"only=gold:NoSchedule"}, taintsOf(w.node))
			w.drop("gold") // which ends the dry run, but not the pause
			if name == "dry run" {
				same(t, "taints without the pool", 0, len(w.node.Spec.Taints))
			}
		})
	}
}
