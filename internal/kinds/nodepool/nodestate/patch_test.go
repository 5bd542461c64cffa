// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

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
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestPatchesOfNodes(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("example.com/tier", "gold"), pooltest.WantsAnnotation("a~b/c", "x/y~z"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule))
	for file, c := range map[string]struct {
		node *corev1.Node
		then func(*world)
	}{
		"patch-join-empty-node.yaml":   {pooltest.Node("n", func(n *corev1.Node) { n.Labels = nil }, pooltest.Role("gold")), nil},
		"patch-join-among-others.yaml": {pooltest.Node("n", pooltest.Role("gold"), pooltest.HasLabel("a", "b"), pooltest.HasAnnotation("c", "d"), pooltest.HasTaint("e", "f", pooltest.NoExecute)), nil},
		"patch-edit.yaml":              {pooltest.Node("n", pooltest.Role("gold")), edit(pooltest.Pool("gold", pooltest.WantsLabel("example.com/tier", "silver"), pooltest.WantsTaint("only", "silver", pooltest.NoSchedule)))},
		"patch-leave.yaml":             {pooltest.Node("n", pooltest.Role("gold"), pooltest.HasTaint("e", "f", pooltest.NoExecute)), hand(pooltest.LacksRole("gold"))},
		"patch-leave-alone.yaml":       {pooltest.Node("n", pooltest.Role("gold")), hand(pooltest.LacksRole("gold"))},
		"patch-repair.yaml":            {pooltest.Node("n", pooltest.Role("gold")), hand(pooltest.LacksLabel("example.com/tier"), func(n *corev1.Node) { n.Spec.Taints = nil })},
	} {
		t.Run(file, func(t *testing.T) {
			w := newWorld(t, c.node, gold)
			if c.then != nil {
				w.settle()
				c.then(w)
			}
			patch, needed := Patch(w.node, w.desired())
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
			pooltest.Applied(t, w.node, patch.Data)
		})
	}
}

func TestANodeThatIsAsDesiredIsNotPatched(t *testing.T) {
	for name, node := range map[string]*corev1.Node{
		"no pool wants anything of it": pooltest.Node("n", pooltest.HasLabel("a", "b"), pooltest.HasTaint("c", "d", pooltest.NoExecute)),
		"it carries all":               settledNode(t, pooltest.Node("n", pooltest.Role("gold")), pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"))),
	} {
		t.Run(name, func(t *testing.T) {
			if patch, needed := Patch(node, Desire(node, []*nodesv1.NodePool{pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"))})); needed {
				t.Errorf("expected no patch, got %s", patch.Data)
			}
		})
	}
}

// The patch must test everything that the decision depends on, and nothing else.
func TestAPatchFailsOnlyWhenWhatItRestsOnHasChanged(t *testing.T) {
	node := pooltest.Node("n", pooltest.Role("gold"), pooltest.HasLabel("other", "x"), pooltest.HasTaint("a", "b", pooltest.NoExecute))
	w := newWorld(t, node, pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsLabel("new", "1"), pooltest.WantsAnnotation("note", "x"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule)))
	w.settle()
	w.have(pooltest.Pool("gold", pooltest.WantsLabel("tier", "silver"), pooltest.WantsLabel("newer", "1"), pooltest.WantsTaint("only", "silver", pooltest.NoSchedule)))
	patch, _ := Patch(w.node, w.desired())
	for name, c := range map[string]struct {
		change pooltest.NodeOption
		fails  bool
	}{
		"the node is another one of the same name":          {func(n *corev1.Node) { n.UID = "another" }, true},
		"a label to be changed is gone":                     {pooltest.LacksLabel("tier"), true},
		"a label to be changed has another value":           {pooltest.HasLabel("tier", "brass"), true},
		"a label to be removed has another value":           {pooltest.HasLabel("new", "2"), true},
		"a label to be added is there":                      {pooltest.HasLabel("newer", "0"), true},
		"an annotation to be removed has another value":     {pooltest.HasAnnotation("note", "y"), true},
		"the ledger is another":                             {pooltest.HasAnnotation(LedgerAnnotation, "{}"), true},
		"the ledger is gone":                                {func(n *corev1.Node) { delete(n.Annotations, LedgerAnnotation) }, true},
		"the list of taints is another":                     {pooltest.HasTaint("c", "", pooltest.NoSchedule), true},
		"the list of taints is gone":                        {func(n *corev1.Node) { n.Spec.Taints = nil }, true},
		"the resource version moved on, as with heartbeats": {func(n *corev1.Node) { n.ResourceVersion = "99"; pooltest.IsNotReady(n) }, false},
		"a label of another owner changed":                  {pooltest.HasLabel("other", "y"), false},
		"an annotation of another owner came":               {pooltest.HasAnnotation("other", "y"), false},
		"the node was cordoned":                             {pooltest.IsCordoned, false},
	} {
		t.Run(name, func(t *testing.T) {
			meanwhile := w.node.DeepCopy()
			c.change(meanwhile)
			_, err := pooltest.TryPatch(meanwhile, patch.Data)
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
	w := newWorld(t, pooltest.Node("n", pooltest.Role("gold")), pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold")))
	patch, _ := Patch(w.node, w.desired())
	w.change(pooltest.HasLabel("tier", "brass"))
	if _, err := pooltest.TryPatch(w.node, patch.Data); !errors.Is(err, jsonpatch.ErrTestFailed) {
		t.Errorf("expected a failed test operation, got %v", err)
	}
}

func TestALeavingNodeKeepsNoTrace(t *testing.T) {
	w := newWorld(t, pooltest.Node("n", pooltest.Role("gold")), pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsAnnotation("a", "b"), pooltest.WantsTaint("c", "d", pooltest.NoExecute)))
	w.settle()
	w.change(pooltest.LacksRole("gold"))
	w.settle()
	if len(w.node.Labels)+len(w.node.Annotations)+len(w.node.Spec.Taints) > 0 {
		t.Errorf("expected a node without labels, annotations and taints, got %v %v %v", w.node.Labels, w.node.Annotations, w.node.Spec.Taints)
	}
}

// opcrew detects a contest when another manager keeps undoing writes that have the same intent. Each edit of the
// NodePool changes the intent, so opcrew must not report a contest only because a user edits the NodePool often.
func TestThePatchCarriesItsIntentAndTheFieldsThatItWrites(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule))
	w := newWorld(t, pooltest.Node("n", pooltest.Role("gold")), gold)
	first, _ := Patch(w.node, w.desired())
	w.settle()
	w.change(pooltest.LacksLabel("tier"))
	repair, _ := Patch(w.node, w.desired())
	if first.Intent == "" || repair.Intent != first.Intent {
		t.Errorf("expected a repair to have the intent of the first patch, got %q and %q", repair.Intent, first.Intent)
	}
	want := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "labels", "tier"))
	if !repair.Fields.Equals(want) {
		t.Errorf("expected the fields of the repair to be %s, got %s", want, repair.Fields)
	}
	for _, path := range []fieldpath.Path{
		fieldpath.MakePathOrDie("metadata", "labels", "tier"), fieldpath.MakePathOrDie("spec", "taints"),
		fieldpath.MakePathOrDie("metadata", "annotations", LedgerAnnotation),
	} {
		if !first.Fields.Has(path) {
			t.Errorf("expected the fields of the first patch to have %s, got %s", path, first.Fields)
		}
	}
	w.have(pooltest.Pool("gold", pooltest.WantsLabel("tier", "silver")))
	if edited, _ := Patch(w.node, w.desired()); edited.Intent == first.Intent {
		t.Error("expected another spec to be another intent")
	}
}

func TestChangesReadAsAUserSaysThem(t *testing.T) {
	for want, c := range map[string]Change{
		"add label tier=gold":                          {Item: labelItem("tier"), New: "gold", Wanted: true},
		"add label tier=":                              {Item: labelItem("tier"), Wanted: true},
		"remove annotation note":                       {Item: annotationItem("note"), old: "x", was: true},
		`change label tier from "gold" to ""`:          {Item: labelItem("tier"), old: "gold", was: true, Wanted: true},
		"add taint only:NoExecute=gold":                {Item: taintItem("only", pooltest.NoExecute), New: "gold", Wanted: true},
		`change taint only:NoSchedule from "a" to "b"`: {Item: taintItem("only", pooltest.NoSchedule), old: "a", was: true, New: "b", Wanted: true},
	} {
		if got := c.String(); got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
	long := Change{Item: annotationItem("note"), old: strings.Repeat("a", 4096), was: true, New: strings.Repeat("b", 4096), Wanted: true}
	if n := len(long.String()); n > 1000 {
		t.Errorf("expected long values to be cut, got a line of %d bytes", n)
	}
}
