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
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

func TestConflictsAreGroupedByWhatAndWithWhom(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.Created(2), pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule), pooltest.WantsAnnotation("note", "gold"))
	other := pooltest.Pool("other", pooltest.Created(1), pooltest.WantsLabel("tier", "other"))
	nodes := []*corev1.Node{
		pooltest.Node("n5", pooltest.Role("gold"), pooltest.HasLabel("tier", "brass"), pooltest.HasTaint("only", "brass", pooltest.NoSchedule)),
		pooltest.Node("n4", pooltest.Role("gold"), pooltest.HasLabel("tier", "iron")),
		pooltest.Node("n3", pooltest.Role("gold"), pooltest.HasLabel("tier", "tin")),
		pooltest.Node("n2", pooltest.Role("gold"), pooltest.HasLabel("tier", "zinc")),
		pooltest.Node("n1", pooltest.Role("gold"), pooltest.Role("other")),
		pooltest.Node("n0", pooltest.Role("gold")),
		pooltest.Node("outside", pooltest.HasLabel("tier", "brass")),
	}
	want := []nodesv1.Conflict{
		{Kind: "Label", Key: "tier", Wanted: "gold", Found: "zinc", NodeCount: 4, Nodes: []string{"n2", "n3", "n4"}},
		{Kind: "Label", Key: "tier", Wanted: "gold", Found: "other", Owner: "other", NodeCount: 1, Nodes: []string{"n1"}},
		{Kind: "Taint", Key: "only:NoSchedule", Wanted: "gold", Found: "brass", NodeCount: 1, Nodes: []string{"n5"}},
	}
	pools := []*nodesv1.NodePool{gold, other}
	for range 20 { // the result must not depend on the order in which the cache lists nodes
		rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		pooltest.Same(t, "conflicts of gold", want, conflictsOf("gold", factsOf(gold, pools, nodes...).nodes))
	}
	pooltest.Same(t, "conflicts of the winner", []nodesv1.Conflict{}, conflictsOf("other", factsOf(other, pools, nodes...).nodes), cmpopts.EquateEmpty())
}

func TestLongValuesInConflictAreCut(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsAnnotation("note", strings.Repeat("w", 4096)))
	found := conflictsOf("gold", factsOf(gold, []*nodesv1.NodePool{gold}, pooltest.Node("n", pooltest.Role("gold"), pooltest.HasAnnotation("note", strings.Repeat("f", 200_000)))).nodes)
	if len(found) != 1 || len(found[0].Wanted) > nodestate.MaxValue || len(found[0].Found) > nodestate.MaxValue {
		t.Errorf("expected one conflict with values of at most %d bytes, got %d with %d and %d", nodestate.MaxValue, len(found), len(found[0].Wanted), len(found[0].Found))
	}
}

func TestAConflictSaysWhatToDo(t *testing.T) {
	for want, c := range map[string]nodesv1.Conflict{
		`label tier should have the value "gold", but has the value "brass", which belongs to a client other than opcrew, on 1 node (n1): remove this setting from the node, or change the spec of the pool`: {Kind: "Label", Key: "tier", Wanted: "gold", Found: "brass", NodeCount: 1, Nodes: []string{"n1"}},
		`taint only:NoExecute should have the value "", but has the value "x", which belongs to NodePool other, on 12 nodes (a, b, c, ...): give both pools the same value, or remove this setting from one pool`: {
			Kind: "Taint", Key: "only:NoExecute", Found: "x", Owner: "other", NodeCount: 12, Nodes: []string{"a", "b", "c"},
		},
	} {
		pooltest.Same(t, "the line", want, describe(c))
	}
}

func TestNumbersOfNodesNameThree(t *testing.T) {
	for want, names := range map[string][]string{
		"1 node (a)":             {"a"},
		"2 nodes (a, b)":         {"b", "a"},
		"3 nodes (a, b, c)":      {"c", "b", "a"},
		"4 nodes (a, b, c, ...)": {"d", "c", "b", "a"},
	} {
		pooltest.Same(t, "the text", want, countNodes(names))
	}
	pooltest.Same(t, "none", "0 nodes", plural(0, "node"))
	pooltest.Same(t, "one", "1 node", plural(1, "node"))
}

func TestAStatusHoldsSixteenConflictsAtMost(t *testing.T) {
	var wants []pooltest.PoolOption
	var has []pooltest.NodeOption
	for i := range 20 {
		wants = append(wants, pooltest.WantsLabel(fmt.Sprintf("l%02d", i), "gold"))
		has = append(has, pooltest.HasLabel(fmt.Sprintf("l%02d", i), "brass"))
	}
	gold := pooltest.Pool("gold", wants...)
	status := reported(gold, factsOf(gold, []*nodesv1.NodePool{gold}, pooltest.Node("n", append(has, pooltest.Role("gold"))...)))
	if len(status.Conflicts) != maxConflicts || status.Conflicts[0].Key != "l00" || status.Conflicts[15].Key != "l15" {
		t.Errorf("expected the first 16 conflicts by key, got %d from %s", len(status.Conflicts), status.Conflicts[0].Key)
	}
	if c := conditionOf(status, nodesv1.NodePoolConflict); !strings.Contains(c.Message, "and 19 conflicts more, see status.conflicts") {
		t.Errorf("expected the message to count the rest, got %q", c.Message)
	}
}
