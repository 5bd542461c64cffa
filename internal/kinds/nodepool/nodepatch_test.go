// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestPatchesOfNodes(t *testing.T) {
	gold := newPool("gold", wantsLabel("example.com/tier", "gold"), wantsAnnotation("a~b/c", "x/y~z"), wantsTaint("only", "gold", noSchedule))
	for file, c := range map[string]struct {
		node *corev1.Node
		then func(*world)
	}{
		"patch-join-empty-node.yaml":   {newNode("n", func(n *corev1.Node) { n.Labels = nil }, role("gold")), nil},
		"patch-join-among-others.yaml": {newNode("n", role("gold"), hasLabel("a", "b"), hasAnnotation("c", "d"), hasTaint("e", "f", noExecute)), nil},
		"patch-edit.yaml":              {newNode("n", role("gold")), edit(newPool("gold", wantsLabel("example.com/tier", "silver"), wantsTaint("only", "silver", noSchedule)))},
		"patch-leave.yaml":             {newNode("n", role("gold"), hasTaint("e", "f", noExecute)), hand(lacksRole("gold"))},
		"patch-leave-alone.yaml":       {newNode("n", role("gold")), hand(lacksRole("gold"))},
		"patch-repair.yaml":            {newNode("n", role("gold")), hand(lacksLabel("example.com/tier"), func(n *corev1.Node) { n.Spec.Taints = nil })},
	} {
		t.Run(file, func(t *testing.T) {
			w := newWorld(t, c.node, gold)
			if c.then != nil {
				w.settle()
				c.then(w)
			}
			patch, needed := nodePatch(w.node, w.desired())
			if !needed {
				t.Fatal("expected a patch")
			}
			if patch.Type != types.JSONPatchType || patch.Object != w.node {
				t.Errorf("expected a JSON patch of the node, got %s of %v", patch.Type, patch.Object)
			}
			var operations []map[string]any
			if err := json.Unmarshal(patch.Data, &operations); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, file, operations)
			applied(t, w.node, patch.Data)
		})
	}
}

func TestANodeThatIsAsDesiredIsNotPatched(t *testing.T) {
	for name, node := range map[string]*corev1.Node{
		"no pool wants anything of it": newNode("n", hasLabel("a", "b"), hasTaint("c", "d", noExecute)),
		"it carries all":               settled(t, newNode("n", role("gold")), newPool("gold", wantsLabel("tier", "gold"))),
	} {
		t.Run(name, func(t *testing.T) {
			if patch, needed := nodePatch(node, desire(node, []*nodesv1.NodePool{newPool("gold", wantsLabel("tier", "gold"))})); needed {
				t.Errorf("expected no patch, got %s", patch.Data)
			}
		})
	}
}

// Everything that the decision rests on is tested; nothing else is.
func TestAPatchFailsOnlyWhenWhatItRestsOnHasChanged(t *testing.T) {
	node := newNode("n", role("gold"), hasLabel("other", "x"), hasTaint("a", "b", noExecute))
	w := newWorld(t, node, newPool("gold", wantsLabel("tier", "gold"), wantsLabel("new", "1"), wantsAnnotation("note", "x"), wantsTaint("only", "gold", noSchedule)))
	w.settle()
	w.have(newPool("gold", wantsLabel("tier", "silver"), wantsLabel("newer", "1"), wantsTaint("only", "silver", noSchedule)))
	patch, _ := nodePatch(w.node, w.desired())
	for name, c := range map[string]struct {
		change nodeOption
		fails  bool
	}{
		"the node is another one of the same name":          {func(n *corev1.Node) { n.UID = "another" }, true},
		"a label to be changed is gone":                     {lacksLabel("tier"), true},
		"a label to be changed has another value":           {hasLabel("tier", "brass"), true},
		"a label to be removed has another value":           {hasLabel("new", "2"), true},
		"a label to be added is there":                      {hasLabel("newer", "0"), true},
		"an annotation to be removed has another value":     {hasAnnotation("note", "y"), true},
		"the ledger is another":                             {hasAnnotation(ledgerAnnotation, "{}"), true},
		"the ledger is gone":                                {func(n *corev1.Node) { delete(n.Annotations, ledgerAnnotation) }, true},
		"the list of taints is another":                     {hasTaint("c", "", noSchedule), true},
		"the list of taints is gone":                        {func(n *corev1.Node) { n.Spec.Taints = nil }, true},
		"the resource version moved on, as with heartbeats": {func(n *corev1.Node) { n.ResourceVersion = "99"; isNotReady(n) }, false},
		"a label of somebody else changed":                  {hasLabel("other", "y"), false},
		"an annotation of somebody else came":               {hasAnnotation("other", "y"), false},
		"the node was cordoned":                             {isCordoned, false},
	} {
		t.Run(name, func(t *testing.T) {
			meanwhile := w.node.DeepCopy()
			c.change(meanwhile)
			_, err := tryPatch(meanwhile, patch.Data)
			if c.fails && err == nil {
				t.Error("expected the patch to fail as a whole, so that it is decided again")
			}
			if !c.fails && err != nil {
				t.Errorf("expected the patch not to be hampered: %v", err)
			}
		})
	}
}

func TestATestOfThePatchThatFailsIsSuch(t *testing.T) {
	w := newWorld(t, newNode("n", role("gold")), newPool("gold", wantsLabel("tier", "gold")))
	patch, _ := nodePatch(w.node, w.desired())
	w.change(hasLabel("tier", "brass"))
	if _, err := tryPatch(w.node, patch.Data); !errors.Is(err, jsonpatch.ErrTestFailed) {
		t.Errorf("expected a failed test operation, got %v", err)
	}
}

func TestALeavingNodeKeepsNoTrace(t *testing.T) {
	w := newWorld(t, newNode("n", role("gold")), newPool("gold", wantsLabel("tier", "gold"), wantsAnnotation("a", "b"), wantsTaint("c", "d", noExecute)))
	w.settle()
	w.change(lacksRole("gold"))
	w.settle()
	if len(w.node.Labels)+len(w.node.Annotations)+len(w.node.Spec.Taints) > 0 {
		t.Errorf("expected a node without labels, annotations and taints, got %v %v %v", w.node.Labels, w.node.Annotations, w.node.Spec.Taints)
	}
}

// A contest is about one intent: a user who edits often is no one's rival.
func TestThePatchCarriesItsIntentAndTheFieldsThatItWrites(t *testing.T) {
	gold := newPool("gold", wantsLabel("tier", "gold"), wantsTaint("only", "gold", noSchedule))
	w := newWorld(t, newNode("n", role("gold")), gold)
	first, _ := nodePatch(w.node, w.desired())
	w.settle()
	w.change(lacksLabel("tier"))
	repair, _ := nodePatch(w.node, w.desired())
	if first.Intent == "" || repair.Intent != first.Intent {
		t.Errorf("expected a repair to have the intent of the first patch, got %q and %q", repair.Intent, first.Intent)
	}
	want := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "labels", "tier"))
	if !repair.Fields.Equals(want) {
		t.Errorf("expected the fields of the repair to be %s, got %s", want, repair.Fields)
	}
	for _, path := range []fieldpath.Path{
		fieldpath.MakePathOrDie("metadata", "labels", "tier"), fieldpath.MakePathOrDie("spec", "taints"),
		fieldpath.MakePathOrDie("metadata", "annotations", ledgerAnnotation),
	} {
		if !first.Fields.Has(path) {
			t.Errorf("expected the fields of the first patch to have %s, got %s", path, first.Fields)
		}
	}
	w.have(newPool("gold", wantsLabel("tier", "silver")))
	if edited, _ := nodePatch(w.node, w.desired()); edited.Intent == first.Intent {
		t.Error("expected another spec to be another intent")
	}
}

func TestChangesReadAsAUserSaysThem(t *testing.T) {
	for want, c := range map[string]change{
		"add label tier=gold":                          {item: labelItem("tier"), new: "gold", wanted: true},
		"add label tier=":                              {item: labelItem("tier"), wanted: true},
		"remove annotation note":                       {item: annotationItem("note"), old: "x", was: true},
		`change label tier from "gold" to ""`:          {item: labelItem("tier"), old: "gold", was: true, wanted: true},
		"add taint only:NoExecute=gold":                {item: taintItem("only", noExecute), new: "gold", wanted: true},
		`change taint only:NoSchedule from "a" to "b"`: {item: taintItem("only", noSchedule), old: "a", was: true, new: "b", wanted: true},
	} {
		if got := c.String(); got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
	long := change{item: annotationItem("note"), old: strings.Repeat("a", 4096), was: true, new: strings.Repeat("b", 4096), wanted: true}
	if n := len(long.String()); n > 1000 {
		t.Errorf("expected long values to be cut, got a line of %d bytes", n)
	}
}
