// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

func TestOnlyEventsOfNodesThatMatterGetThrough(t *testing.T) {
	base := newNode("n", role("gold"), hasLabel("a", "b"), hasAnnotation("c", "d"), hasTaint("e", "f", noSchedule), hasSize("1", "1Gi"), offersHandlers("runc"))
	for name, c := range map[string]struct {
		change nodeOption
		want   bool
	}{
		"nothing": {func(*corev1.Node) {}, false},
		// Regression: one heartbeat of one node rewrote the whole pool.
		"a heartbeat": {func(n *corev1.Node) {
			n.ResourceVersion = "2"
			n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(someTime.Add(time.Minute))
		}, false},
		"another condition of the node": {func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue})
		}, false},
		"capacity, images and addresses": {func(n *corev1.Node) {
			n.Status.Capacity = corev1.ResourceList{"cpu": quantity("9")}
			n.Status.Images = []corev1.ContainerImage{{Names: []string{"x"}}}
			n.Status.Addresses = []corev1.NodeAddress{{Address: "10.0.0.1"}}
		}, false},
		"allocatable, written in another way": {hasSize("1000m", "1024Mi"), false},
		"a label comes":                       {hasLabel("x", "y"), true},
		"a label changes":                     {hasLabel("a", "y"), true},
		"a label goes":                        {lacksRole("gold"), true},
		"an annotation comes":                 {hasAnnotation("x", "y"), true},
		"the ledger goes":                     {func(n *corev1.Node) { n.Annotations = nil }, true},
		"a taint comes":                       {hasTaint("x", "", noExecute), true},
		"the value of a taint changes":        {func(n *corev1.Node) { n.Spec.Taints = nil; hasTaint("e", "g", noSchedule)(n) }, true},
		"the taints go":                       {func(n *corev1.Node) { n.Spec.Taints = nil }, true},
		"a cordon":                            {isCordoned, true},
		"the node is not ready":               {isNotReady, true},
		"the node is unknown":                 {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, true},
		"allocatable changes":                 {hasSize("2", "1Gi"), true},
		"the runtime offers another handler":  {offersHandlers("kata"), true},
		"the node is being deleted":           {func(n *corev1.Node) { n.DeletionTimestamp = &someTime }, true},
	} {
		t.Run(name, func(t *testing.T) {
			after := base.DeepCopy()
			c.change(after)
			if got := nodeChanged().Update(event.UpdateEvent{ObjectOld: base, ObjectNew: after}); got != c.want {
				t.Errorf("expected the event to get through: %t, got %t", c.want, got)
			}
		})
	}
	// Regression: nodes that were created and deleted went unnoticed.
	if !nodeChanged().Create(event.CreateEvent{Object: base}) || !nodeChanged().Delete(event.DeleteEvent{Object: base}) {
		t.Error("expected new and deleted nodes to get through")
	}
}

// Regression: only one of several pools of a node was looked at again, and the one that
// it had left never cleaned it.
func TestANodeConcernsThePoolsThatItBelongsToOrCarriesSomethingOf(t *testing.T) {
	gold, silver, bySelector, other := newPool("gold"), newPool("silver"), newPool("zonal", selects("zone", "a")), newPool("other")
	pools := []*nodesv1.NodePool{gold, silver, bySelector, other}
	for name, c := range map[string]struct {
		node *corev1.Node
		want []string
	}{
		"none":                        {newNode("n"), nil},
		"all that it belongs to":      {newNode("n", role("silver"), role("gold"), hasLabel("zone", "a")), []string{"gold", "silver", "zonal"}},
		"one that it left":            {settled(t, newNode("n", role("gold")), gold), []string{"gold"}},
		"one that is gone altogether": {newNode("n", hasLedger(`{"labels":{"x":{"value":"","pools":["gone"]}}}`)), []string{"gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "pools", c.want, concerned(c.node, pools), cmpopts.EquateEmpty())
			for _, pool := range pools {
				if slices.Contains(c.want, pool.Name) && !mayConcern(pool, c.node) {
					t.Errorf("expected the quick look not to rule out pool %s", pool.Name)
				}
			}
			if name == "one that it left" {
				lacksRole("gold")(c.node)
				same(t, "pools without the role label", c.want, concerned(c.node, pools))
			}
		})
	}
}

func TestAPoolsOwnStatusIsNoChangeOfItsWishes(t *testing.T) {
	base := newPool("gold")
	for name, c := range map[string]struct {
		change poolOption
		want   bool
	}{
		"status":       {func(p *nodesv1.NodePool) { p.Status.NodeCount, p.ResourceVersion = 1, "2" }, false},
		"a finalizer":  {func(p *nodesv1.NodePool) { p.Finalizers = []string{finalizer} }, false},
		"the spec":     {func(p *nodesv1.NodePool) { p.Generation++ }, true},
		"a pause":      {isPaused(), true},
		"a dry run":    {inDryRun(), true},
		"the deletion": {beingDeleted, true},
	} {
		t.Run(name, func(t *testing.T) {
			after := base.DeepCopy()
			c.change(after)
			if got := wishesChanged(base, after); got != c.want {
				t.Errorf("expected a change of wishes: %t, got %t", c.want, got)
			}
		})
	}
}

func TestARuntimeClassConcernsThePoolOfItsName(t *testing.T) {
	if got := sameName(t.Context(), newPool("gold")); len(got) != 1 || got[0].Name != "gold" {
		t.Errorf("expected pool gold to be looked at, got %v", got)
	}
}
