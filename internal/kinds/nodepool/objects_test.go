// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func classOf(pool *nodesv1.NodePool, f facts) any {
	return runtimeClass(pool, selectorLabels(pool, conflictsOf(pool.Name, f.nodes)), tolerations(pool, f.nodes))
}

func TestRuntimeClassesOfTheArticlesPools(t *testing.T) {
	shared := pooltest.Node("shared", pooltest.Role("master"), pooltest.Role("test"))
	for name, c := range map[string]struct {
		file  string
		nodes []*corev1.Node
	}{
		"separate nodes":  {"nodepool.yaml", []*corev1.Node{pooltest.Node("one", pooltest.Role("test")), pooltest.Node("two", pooltest.Role("master"))}},
		"one shared node": {"nodepool.yaml", []*corev1.Node{shared}},
		"no node yet":     {"nodepool.yaml", nil},
		"updated":         {"nodepool-updated.yaml", []*corev1.Node{pooltest.Node("two", pooltest.Role("master"))}},
	} {
		t.Run(name, func(t *testing.T) {
			pools := pooltest.ArticlePools(t, "testdata/"+c.file)
			for _, pool := range pools {
				golden.Check(t, fmt.Sprintf("class-%s-%s.yaml", pool.Name, strings.ReplaceAll(name, " ", "-")), classOf(pool, factsOf(pool, pools, c.nodes...)))
			}
		})
	}
}

// Regression: the RuntimeClass always had the handler runc, regardless of spec.handler.
func TestARuntimeClassHasThePoolsHandlerAndOverhead(t *testing.T) {
	pool := pooltest.Pool("gold", func(p *nodesv1.NodePool) {
		p.Spec.Handler = "kata"
		p.Spec.Overhead = &nodesv1.Overhead{PodFixed: map[corev1.ResourceName]common.Amount{"cpu": "250m", "memory": "120Mi"}}
	})
	golden.Check(t, "class-overhead.yaml", classOf(pool, facts{}))
	if got := pooltest.Pool("gold", func(p *nodesv1.NodePool) { p.Spec.Handler = "" }).Handler(); got != "runc" {
		t.Errorf("expected runc for a pool that names no handler, got %q", got)
	}
	pool.Spec.Overhead = &nodesv1.Overhead{}
	if runtimeClass(pool, nil, nil).Overhead != nil {
		t.Error("expected an overhead of nothing to be left out")
	}
}

// Regression: the RuntimeClass of a NodePool without labels did not restrict pods to the nodes of the pool.
func TestARuntimeClassSelectsByRoleAndByWhatEveryMemberCarries(t *testing.T) {
	roleLabel := nodesv1.RolePrefix + "gold"
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsLabel("zone", "a"), pooltest.WantsAnnotation("note", "x"))
	for name, c := range map[string]struct {
		pool  *nodesv1.NodePool
		nodes []*corev1.Node
		want  pooltest.LabelMap
	}{
		"a pool without labels":                      {pooltest.Pool("gold"), nil, pooltest.LabelMap{roleLabel: ""}},
		"a pool without nodes":                       {gold, nil, pooltest.LabelMap{roleLabel: "", "tier": "gold", "zone": "a"}},
		"a pool with a node that is not changed yet": {gold, []*corev1.Node{pooltest.Node("n", pooltest.Role("gold"))}, pooltest.LabelMap{roleLabel: "", "tier": "gold", "zone": "a"}},
		"a label that one node carries otherwise": {
			gold, []*corev1.Node{pooltest.Node("n", pooltest.Role("gold")), pooltest.Node("m", pooltest.Role("gold"), pooltest.HasLabel("zone", "b"))},
			pooltest.LabelMap{roleLabel: "", "tier": "gold"},
		},
		"a label that a node outside carries otherwise": {
			gold, []*corev1.Node{pooltest.Node("n", pooltest.Role("gold")), pooltest.Node("m", pooltest.HasLabel("zone", "b"))},
			pooltest.LabelMap{roleLabel: "", "tier": "gold", "zone": "a"},
		},
		"an annotation in conflict": {
			gold, []*corev1.Node{pooltest.Node("n", pooltest.Role("gold"), pooltest.HasAnnotation("note", "y"))},
			pooltest.LabelMap{roleLabel: "", "tier": "gold", "zone": "a"},
		},
		"a role label with a value of another owner": {
			gold, []*corev1.Node{pooltest.Node("n", pooltest.HasLabel(roleLabel, "true"))},
			pooltest.LabelMap{roleLabel: "", "tier": "gold", "zone": "a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pooltest.Same(t, "the node selector", c.want, selectorLabels(c.pool, conflictsOf(c.pool.Name, factsOf(c.pool, []*nodesv1.NodePool{c.pool}, c.nodes...).nodes)))
		})
	}
}

func TestARuntimeClassToleratesWhatItsPodsMeet(t *testing.T) {
	line := func(t corev1.Toleration) string {
		return fmt.Sprintf("%s %s %s:%s", t.Key, t.Operator, t.Value, t.Effect)
	}
	gold := pooltest.Pool("gold", pooltest.WantsTaint("z", "1", pooltest.NoSchedule), pooltest.WantsTaint("a", "2", pooltest.NoSchedule))
	other := pooltest.Pool("other", pooltest.WantsTaint("m", "3", pooltest.NoSchedule), pooltest.WantsTaint("b", "4", corev1.TaintEffectPreferNoSchedule))
	for name, c := range map[string]struct {
		pool  *nodesv1.NodePool
		pools []*nodesv1.NodePool
		nodes []*corev1.Node
		want  []string
	}{
		"nothing, without taints": {pool: pooltest.Pool("gold")},
		"the pool's taints, in its order": {
			pool: gold, want: []string{"z Equal 1:NoSchedule", "a Equal 2:NoSchedule"},
		},
		"those of another pool on a shared node, sorted": {
			pool: gold, pools: []*nodesv1.NodePool{gold, other}, nodes: []*corev1.Node{pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("other"))},
			want: []string{"z Equal 1:NoSchedule", "a Equal 2:NoSchedule", "b Equal 4:PreferNoSchedule", "m Equal 3:NoSchedule"},
		},
		"not those of another pool on its own nodes": {
			pool: gold, pools: []*nodesv1.NodePool{gold, other}, nodes: []*corev1.Node{pooltest.Node("n", pooltest.Role("gold")), pooltest.Node("m", pooltest.Role("other"))},
			want: []string{"z Equal 1:NoSchedule", "a Equal 2:NoSchedule"},
		},
		"not those of another owner": {
			pool: gold, pools: []*nodesv1.NodePool{gold}, nodes: []*corev1.Node{pooltest.Node("n", pooltest.Role("gold"), pooltest.HasTaint("maintenance", "", pooltest.NoSchedule))},
			want: []string{"z Equal 1:NoSchedule", "a Equal 2:NoSchedule"},
		},
		"the winner's value beside its own where it lost": {
			pool: gold, pools: []*nodesv1.NodePool{gold, pooltest.Pool("a", pooltest.WantsTaint("z", "9", pooltest.NoSchedule))}, nodes: []*corev1.Node{pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("a"))},
			want: []string{"z Equal 1:NoSchedule", "a Equal 2:NoSchedule", "z Equal 9:NoSchedule"},
		},
		"a taint that two pools share, once": {
			pool: gold, pools: []*nodesv1.NodePool{gold, pooltest.Pool("a", pooltest.WantsTaint("z", "1", pooltest.NoSchedule))}, nodes: []*corev1.Node{pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("a"))},
			want: []string{"z Equal 1:NoSchedule", "a Equal 2:NoSchedule"},
		},
		// Regression: a new value of a NoExecute taint evicted the pods of the NodePool itself, because pods keep the
		// tolerations with which they were created.
		"every value of a NoExecute taint, once": {
			pool:  pooltest.Pool("gold", pooltest.WantsTaint("z", "1", pooltest.NoExecute)),
			pools: []*nodesv1.NodePool{pooltest.Pool("gold", pooltest.WantsTaint("z", "1", pooltest.NoExecute)), pooltest.Pool("a", pooltest.WantsTaint("z", "2", pooltest.NoExecute))},
			nodes: []*corev1.Node{pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("a"))},
			want:  []string{"z Exists :NoExecute"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pools := c.pools
			if pools == nil {
				pools = []*nodesv1.NodePool{c.pool}
			}
			var got []string
			for _, toleration := range tolerations(c.pool, factsOf(c.pool, pools, c.nodes...).nodes) {
				got = append(got, line(toleration))
			}
			pooltest.Same(t, "tolerations", c.want, got, cmpopts.EquateEmpty())
		})
	}
}
