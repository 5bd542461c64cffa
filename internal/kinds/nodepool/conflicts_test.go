// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

func TestConflictsAreGroupedByWhatAndWithWhom(t *testing.T) {
	gold := newPool("gold", created(2), wantsLabel("tier", "gold"), wantsTaint("only", "gold", noSchedule), wantsAnnotation("note", "gold"))
	other := newPool("other", created(1), wantsLabel("tier", "other"))
	nodes := []*corev1.Node{
		newNode("n5", role("gold"), hasLabel("tier", "brass"), hasTaint("only", "brass", noSchedule)),
		newNode("n4", role("gold"), hasLabel("tier", "iron")),
		newNode("n3", role("gold"), hasLabel("tier", "tin")),
		newNode("n2", role("gold"), hasLabel("tier", "zinc")),
		newNode("n1", role("gold"), role("other")),
		newNode("n0", role("gold")),
		newNode("outside", hasLabel("tier", "brass")),
	}
	want := []nodesv1.Conflict{
		{Kind: "Label", Key: "tier", Wanted: "gold", Found: "zinc", NodeCount: 4, Nodes: []string{"n2", "n3", "n4"}},
		{Kind: "Label", Key: "tier", Wanted: "gold", Found: "other", Owner: "other", NodeCount: 1, Nodes: []string{"n1"}},
		{Kind: "Taint", Key: "only:NoSchedule", Wanted: "gold", Found: "brass", NodeCount: 1, Nodes: []string{"n5"}},
	}
	pools := []*nodesv1.NodePool{gold, other}
	for range 20 { // whatever the order in which the cache lists nodes
		rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		same(t, "conflicts of gold", want, conflictsOf("gold", factsOf(gold, pools, nodes...)))
	}
	same(t, "conflicts of the winner", []nodesv1.Conflict{}, conflictsOf("other", factsOf(other, pools, nodes...)), cmpopts.EquateEmpty())
}

func TestLongValuesInConflictAreCut(t *testing.T) {
	gold := newPool("gold", wantsAnnotation("note", strings.Repeat("w", 4096)))
	found := conflictsOf("gold", factsOf(gold, []*nodesv1.NodePool{gold}, newNode("n", role("gold"), hasAnnotation("note", strings.Repeat("f", 200_000)))))
	if len(found) != 1 || len(found[0].Wanted) > maxValue || len(found[0].Found) > maxValue {
		t.Errorf("expected one conflict with values of at most %d bytes, got %d with %d and %d", maxValue, len(found), len(found[0].Wanted), len(found[0].Found))
	}
}

func TestAConflictSaysWhatToDo(t *testing.T) {
	for want, c := range map[string]nodesv1.Conflict{
		`label tier wanted "gold", is "brass" and held by somebody outside the pools on 1 node (n1): remove it there or change spec`: {Kind: "Label", Key: "tier", Wanted: "gold", Found: "brass", NodeCount: 1, Nodes: []string{"n1"}},
		`taint only:NoExecute wanted "", is "x" and held by NodePool other on 12 nodes (a, b, c, ...): give both pools the same value, or take it out of one`: {
			Kind: "Taint", Key: "only:NoExecute", Found: "x", Owner: "other", NodeCount: 12, Nodes: []string{"a", "b", "c"},
		},
	} {
		same(t, "the line", want, describe(c))
	}
}

func TestNumbersOfNodesNameThree(t *testing.T) {
	for want, names := range map[string][]string{
		"1 node (a)":             {"a"},
		"2 nodes (a, b)":         {"b", "a"},
		"3 nodes (a, b, c)":      {"c", "b", "a"},
		"4 nodes (a, b, c, ...)": {"d", "c", "b", "a"},
	} {
		same(t, "the text", want, countNodes(names))
	}
	same(t, "none", "0 nodes", plural(0, "node"))
	same(t, "one", "1 node", plural(1, "node"))
}

func TestAStatusHoldsSixteenConflictsAtMost(t *testing.T) {
	var wants []poolOption
	var has []nodeOption
	for i := range 20 {
		wants = append(wants, wantsLabel(fmt.Sprintf("l%02d", i), "gold"))
		has = append(has, hasLabel(fmt.Sprintf("l%02d", i), "brass"))
	}
	gold := newPool("gold", wants...)
	status := reported(gold, factsOf(gold, []*nodesv1.NodePool{gold}, newNode("n", append(has, role("gold"))...)))
	if len(status.Conflicts) != maxConflicts || status.Conflicts[0].Key != "l00" || status.Conflicts[15].Key != "l15" {
		t.Errorf("expected the first 16 conflicts by key, got %d from %s", len(status.Conflicts), status.Conflicts[0].Key)
	}
	if c := conditionOf(status, nodesv1.NodePoolConflict); !strings.Contains(c.Message, "and 19 conflicts more in status.conflicts") {
		t.Errorf("expected the message to count the rest, got %q", c.Message)
	}
}
