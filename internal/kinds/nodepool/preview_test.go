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
	return preview(pool, f, false)
}

func TestADryRunTellsWhatWouldChange(t *testing.T) {
	before := newPool("gold", wantsLabel("tier", "gold"), wantsLabel("old", "1"), wantsTaint("only", "gold", noSchedule))
	after := newPool("gold", inDryRun(), wantsLabel("tier", "platinum"), wantsAnnotation("note", "x"), wantsTaint("only", "gold", noSchedule))
	var nodes []*corev1.Node
	for i := range 5 {
		nodes = append(nodes, settled(t, newNode(fmt.Sprintf("n%d", 4-i), role("gold")), before))
	}
	nodes = append(nodes, settled(t, newNode("left", role("gold")), before), newNode("joined", role("gold")), newNode("outside"))
	delete(nodes[5].Labels, nodesv1.RolePrefix+"gold")
	same(t, "the preview", &nodesv1.Preview{
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
	gold := newPool("gold", wantsLabel("tier", "gold"))
	node := settled(t, newNode("n", role("gold")), gold)
	same(t, "the preview", &nodesv1.Preview{}, previewOf(newPool("gold", inDryRun(), wantsLabel("tier", "gold")), nil, node), cmpopts.EquateEmpty())
}

func TestADryRunTellsOfTheRuntimeClass(t *testing.T) {
	gold := newPool("gold", inDryRun())
	got := preview(gold, factsOf(gold, []*nodesv1.NodePool{gold}), true)
	same(t, "changes", []string{"apply RuntimeClass gold"}, got.Changes)
}

func TestAPreviewStaysSmall(t *testing.T) {
	options := []poolOption{inDryRun(), wantsTaint("only", "gold", noExecute)}
	for i := range 40 {
		options = append(options, wantsLabel(fmt.Sprintf("l%02d", i), "x"))
	}
	gold := newPool("gold", options...)
	var pods []corev1.Pod
	for i := range 50 {
		pods = append(pods, newPod(fmt.Sprintf("p%02d", i), fmt.Sprintf("n%d", i%2)))
	}
	got := previewOf(gold, pods, newNode("n1", role("gold")), newNode("n0", role("gold")))
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
		newPod("tolerates", "n", toleration("gold", noExecute, nil)),
		newPod("tolerates-all", "n", corev1.Toleration{Operator: corev1.TolerationOpExists}),
		newPod("tolerates-for-a-while", "n", toleration("gold", noExecute, &ten)),
		newPod("tolerates-for-a-while-and-for-good", "n", toleration("gold", noExecute, &ten), toleration("gold", "", nil)),
		newPod("tolerates-another-value", "n", toleration("silver", noExecute, nil)),
		newPod("tolerates-another-effect", "n", toleration("gold", noSchedule, nil)),
	}
	want := []string{"shop/plain on n", "shop/pending on n", "shop/tolerates-for-a-while on n", "shop/tolerates-another-value on n", "shop/tolerates-another-effect on n"}
	node := newNode("n", role("gold"))
	got := previewOf(newPool("gold", inDryRun(), wantsTaint("only", "gold", noExecute)), pods, node, newNode("m"))
	same(t, "evictions of a new taint", want, got.Evictions)
	same(t, "their number", int32(len(want)), got.EvictionCount)

	none := func(what string, pool *nodesv1.NodePool, node *corev1.Node) {
		t.Helper()
		if got := previewOf(pool, pods, node); got.EvictionCount != 0 {
			t.Errorf("expected no pod to be evicted by %s, got %v", what, got.Evictions)
		}
	}
	none("a NoSchedule taint", newPool("gold", inDryRun(), wantsTaint("only", "gold", noSchedule)), node)
	there := newPool("gold", wantsTaint("only", "gold", noExecute))
	held := settled(t, node, there)
	none("a taint that is there already", newPool("gold", inDryRun(), wantsTaint("only", "gold", noExecute)), held)
	none("a taint that goes", newPool("gold", inDryRun()), held)
	none("a taint withheld from the control plane", newPool("gold", inDryRun(), wantsTaint("only", "gold", noExecute)), newNode("n", role("gold"), role("control-plane")))
	if got := previewOf(newPool("gold", inDryRun(), wantsTaint("only", "silver", noExecute)), pods, held); !strings.Contains(strings.Join(got.Evictions, "\n"), "shop/tolerates on n") {
		t.Errorf("expected a changed value to evict pods that tolerate only the old one, got %v", got.Evictions)
	}
}

func TestOnlyNoExecuteTaintsEvict(t *testing.T) {
	if evicts(newPool("gold", wantsTaint("a", "", noSchedule))) || !evicts(newPool("gold", wantsTaint("a", "", noSchedule), wantsTaint("a", "", noExecute))) {
		t.Error("expected pods to be read for a NoExecute taint only")
	}
}

func TestThawingChangesNothingButACopyOfThePool(t *testing.T) {
	gold, other := newPool("gold", inDryRun()), newPool("other", isPaused())
	pools := []*nodesv1.NodePool{other, gold}
	thawed := thaw(gold, pools)
	if frozen(thawed[1]) || !frozen(thawed[0]) || !frozen(gold) || pools[1] != gold {
		t.Error("expected a copy of the pool to be thawed, and no other")
	}
}
