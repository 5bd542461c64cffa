// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

func newPod(name, node string, tolerations ...corev1.Toleration) corev1.Pod {
	p := corev1.Pod{}
	p.Namespace, p.Name = "shop", name
	p.Spec.NodeName, p.Spec.Tolerations = node, tolerations
	p.Status.Phase = corev1.PodRunning
	return p
}

func previewOf(pool *nodesv1.NodePool, pods []corev1.Pod, nodes ...*corev1.Node) *nodesv1.Preview {
	f := factsOf(pool, []*nodesv1.NodePool{pool}, nodes...)
	f.pods = pods
	return preview(pool, previewInput{members: f.preview, pods: f.pods, class: f.class})
}

func TestADryRunReportsWhatWouldChange(t *testing.T) {
	before := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"), pooltest.WantsLabel("old", "1"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule))
	after := pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsLabel("tier", "platinum"), pooltest.WantsAnnotation("note", "x"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule))
	var nodes []*corev1.Node
	for i := range 5 {
		nodes = append(nodes, settled(t, pooltest.Node(fmt.Sprintf("n%d", 4-i), pooltest.Role("gold")), before))
	}
	nodes = append(nodes, settled(t, pooltest.Node("left", pooltest.Role("gold")), before), pooltest.Node("joined", pooltest.Role("gold")), pooltest.Node("outside"))
	delete(nodes[5].Labels, nodesv1.RolePrefix+"gold")
	pooltest.Same(t, "the preview", &nodesv1.Preview{
		NodeCount: 7,
		Changes: []string{
			"add annotation note=x on 6 nodes (joined, n0, n1, ...)",
			"add label tier=platinum on 1 node (joined)",
			"add taint only:NoSchedule=gold on 1 node (joined)",
			`change label tier from "gold" to "platinum" on 5 nodes (n0, n1, n2, ...)`,
			"remove label old on 6 nodes (left, n0, n1, ...)",
			"remove label tier on 1 node (left)",
			"remove taint only:NoSchedule on 1 node (left)",
		},
	}, previewOf(after, nil, nodes...))
}

func TestADryRunOfWhatIsThereAlreadyIsEmpty(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.WantsLabel("tier", "gold"))
	node := settled(t, pooltest.Node("n", pooltest.Role("gold")), gold)
	pooltest.Same(t, "the preview", &nodesv1.Preview{}, previewOf(pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsLabel("tier", "gold")), nil, node), cmpopts.EquateEmpty())
}

func TestADryRunReportsTheRuntimeClass(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.InDryRun())
	got := preview(gold, previewInput{members: factsOf(gold, []*nodesv1.NodePool{gold}).preview, classChanges: true})
	pooltest.Same(t, "changes", []string{"apply RuntimeClass gold"}, got.Changes)
}

func TestAPreviewStaysSmall(t *testing.T) {
	options := []pooltest.PoolOption{pooltest.InDryRun(), pooltest.WantsTaint("only", "gold", pooltest.NoExecute)}
	for i := range 40 {
		options = append(options, pooltest.WantsLabel(fmt.Sprintf("l%02d", i), "x"))
	}
	gold := pooltest.Pool("gold", options...)
	var pods []corev1.Pod
	for i := range 50 {
		pods = append(pods, newPod(fmt.Sprintf("p%02d", i), fmt.Sprintf("n%d", i%2)))
	}
	got := previewOf(gold, pods, pooltest.Node("n1", pooltest.Role("gold")), pooltest.Node("n0", pooltest.Role("gold")))
	if len(got.Changes) != maxChanges || got.Changes[31] != "and 10 more changes" {
		t.Errorf("expected 31 of 41 changes and a line that counts the rest, got %d lines, the last %q", len(got.Changes), got.Changes[len(got.Changes)-1])
	}
	if got.EvictionCount != 50 || len(got.Evictions) != maxEvictions {
		t.Errorf("expected 50 evictions counted and 16 named, got %d and %d", got.EvictionCount, len(got.Evictions))
	}
}

func TestADryRunNamesThePodsThatANoExecuteTaintWouldEvict(t *testing.T) {
	ten := int64(10)
	toleration := func(value string, effect corev1.TaintEffect, seconds *int64) corev1.Toleration {
		return corev1.Toleration{Key: "only", Operator: corev1.TolerationOpEqual, Value: value, Effect: effect, TolerationSeconds: seconds}
	}
	finished, failed := newPod("finished", "n"), newPod("failed", "n")
	finished.Status.Phase, failed.Status.Phase = corev1.PodSucceeded, corev1.PodFailed
	pending := newPod("pending", "n")
	pending.Status.Phase = corev1.PodPending
	pods := []corev1.Pod{
		newPod("plain", "n"), pending, finished, failed,
		newPod("elsewhere", "m"),
		newPod("tolerates", "n", toleration("gold", pooltest.NoExecute, nil)),
		newPod("tolerates-all", "n", corev1.Toleration{Operator: corev1.TolerationOpExists}),
		newPod("tolerates-for-a-while", "n", toleration("gold", pooltest.NoExecute, &ten)),
		newPod("tolerates-for-a-while-and-for-good", "n", toleration("gold", pooltest.NoExecute, &ten), toleration("gold", "", nil)),
		newPod("tolerates-another-value", "n", toleration("silver", pooltest.NoExecute, nil)),
		newPod("tolerates-another-effect", "n", toleration("gold", pooltest.NoSchedule, nil)),
	}
	want := []string{"shop/plain on n", "shop/pending on n", "shop/tolerates-for-a-while on n", "shop/tolerates-another-value on n", "shop/tolerates-another-effect on n"}
	node := pooltest.Node("n", pooltest.Role("gold"))
	got := previewOf(pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsTaint("only", "gold", pooltest.NoExecute)), pods, node, pooltest.Node("m"))
	pooltest.Same(t, "evictions of a new taint", want, got.Evictions)
	pooltest.Same(t, "their number", int32(len(want)), got.EvictionCount)

	none := func(what string, pool *nodesv1.NodePool, node *corev1.Node) {
		t.Helper()
		if got := previewOf(pool, pods, node); got.EvictionCount != 0 {
			t.Errorf("expected no pod to be evicted by %s, got %v", what, got.Evictions)
		}
	}
	none("a NoSchedule taint", pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule)), node)
	there := pooltest.Pool("gold", pooltest.WantsTaint("only", "gold", pooltest.NoExecute))
	held := settled(t, node, there)
	none("a taint that is there already", pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsTaint("only", "gold", pooltest.NoExecute)), held)
	none("a taint that goes", pooltest.Pool("gold", pooltest.InDryRun()), held)
	none("a taint withheld from the control plane", pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsTaint("only", "gold", pooltest.NoExecute)), pooltest.Node("n", pooltest.Role("gold"), pooltest.Role("control-plane")))
	if got := previewOf(pooltest.Pool("gold", pooltest.InDryRun(), pooltest.WantsTaint("only", "silver", pooltest.NoExecute)), pods, held); !strings.Contains(strings.Join(got.Evictions, "\n"), "shop/tolerates on n") {
		t.Errorf("expected a changed value to evict pods that tolerate only the old one, got %v", got.Evictions)
	}
}

func TestOnlyNoExecuteTaintsEvict(t *testing.T) {
	if evicts(pooltest.Pool("gold", pooltest.WantsTaint("a", "", pooltest.NoSchedule))) || !evicts(pooltest.Pool("gold", pooltest.WantsTaint("a", "", pooltest.NoSchedule), pooltest.WantsTaint("a", "", pooltest.NoExecute))) {
		t.Error("expected pods to be read for a NoExecute taint only")
	}
}

func TestThawingChangesNothingButACopyOfThePool(t *testing.T) {
	gold, other := pooltest.Pool("gold", pooltest.InDryRun()), pooltest.Pool("other", pooltest.IsPaused())
	pools := []*nodesv1.NodePool{other, gold}
	thawed := thaw(gold, pools)
	if nodestate.Frozen(thawed[1]) || !nodestate.Frozen(thawed[0]) || !nodestate.Frozen(gold) || pools[1] != gold {
		t.Error("expected a copy of the pool to be thawed, and no other")
	}
}
