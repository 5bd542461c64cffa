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
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

func TestOnlyEventsOfNodesThatMatterGetThrough(t *testing.T) {
	base := pooltest.Node("n", pooltest.Role("gold"), pooltest.HasLabel("a", "b"), pooltest.HasAnnotation("c", "d"), pooltest.HasTaint("e", "f", pooltest.NoSchedule), pooltest.HasSize("1", "1Gi"), pooltest.OffersHandlers("runc"))
	for name, c := range map[string]struct {
		change pooltest.NodeOption
		want   bool
	}{
		"nothing": {func(*corev1.Node) {}, false},
		// Regression: one heartbeat of a node made opcrew rewrite the whole pool.
		"a heartbeat": {func(n *corev1.Node) {
			n.ResourceVersion = "2"
			n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(pooltest.SomeTime.Add(time.Minute))
		}, false},
		"another condition of the node": {func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue})
		}, false},
		"capacity and images": {func(n *corev1.Node) {
			n.Status.Capacity = corev1.ResourceList{"cpu": pooltest.Quantity("9")}
			n.Status.Images = []corev1.ContainerImage{{Names: []string{"x"}}}
		}, false},
		"an address":                          {func(n *corev1.Node) { n.Status.Addresses = []corev1.NodeAddress{{Address: "10.0.0.1"}} }, true},
		"allocatable, written in another way": {pooltest.HasSize("1000m", "1024Mi"), false},
		"a label comes":                       {pooltest.HasLabel("x", "y"), true},
		"a label changes":                     {pooltest.HasLabel("a", "y"), true},
		"a label goes":                        {pooltest.LacksRole("gold"), true},
		"an annotation comes":                 {pooltest.HasAnnotation("x", "y"), true},
		"the ledger goes":                     {func(n *corev1.Node) { n.Annotations = nil }, true},
		"a taint comes":                       {pooltest.HasTaint("x", "", pooltest.NoExecute), true},
		"the value of a taint changes":        {func(n *corev1.Node) { n.Spec.Taints = nil; pooltest.HasTaint("e", "g", pooltest.NoSchedule)(n) }, true},
		"the taints go":                       {func(n *corev1.Node) { n.Spec.Taints = nil }, true},
		"a cordon":                            {pooltest.IsCordoned, true},
		"the node is not ready":               {pooltest.IsNotReady, true},
		"the node is unknown":                 {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, true},
		"allocatable changes":                 {pooltest.HasSize("2", "1Gi"), true},
		"the runtime offers another handler":  {pooltest.OffersHandlers("kata"), true},
		"no condition Ready any more":         {func(n *corev1.Node) { n.Status.Conditions = nil }, true},
		"the node is being deleted":           {func(n *corev1.Node) { n.DeletionTimestamp = &pooltest.SomeTime }, true},
	} {
		t.Run(name, func(t *testing.T) {
			after := base.DeepCopy()
			c.change(after)
			if got := nodeChanged().Update(event.UpdateEvent{ObjectOld: base, ObjectNew: after}); got != c.want {
				t.Errorf("expected the event to get through: %t, got %t", c.want, got)
			}
		})
	}
	// Regression: opcrew did not notice created and deleted nodes.
	if !nodeChanged().Create(event.CreateEvent{Object: base}) || !nodeChanged().Delete(event.DeleteEvent{Object: base}) {
		t.Error("expected new and deleted nodes to get through")
	}
}

// Regression: an event of a node enqueued only one of its pools. A NodePool that the node had left was never enqueued
// and did not clean up the node.
func TestANodeConcernsThePoolsThatItBelongsToOrCarriesSomethingOf(t *testing.T) {
	gold, silver, bySelector, other := pooltest.Pool("gold"), pooltest.Pool("silver"), pooltest.Pool("zonal", pooltest.Selects("zone", "a")), pooltest.Pool("other")
	other.Spec.Remediation = &nodesv1.Remediation{Fence: nodesv1.RemediationCommand{OnNodes: map[string]nodesv1.LabelValue{"bmc": "yes"}}}
	pools := []*nodesv1.NodePool{gold, silver, bySelector, other}
	for name, c := range map[string]struct {
		node *corev1.Node
		want []string
	}{
		"none":                                  {pooltest.Node("n"), nil},
		"all that it belongs to":                {pooltest.Node("n", pooltest.Role("silver"), pooltest.Role("gold"), pooltest.HasLabel("zone", "a")), []string{"gold", "silver", "zonal"}},
		"one that it left":                      {settled(t, pooltest.Node("n", pooltest.Role("gold")), gold), []string{"gold"}},
		"one whose fence command may run there": {pooltest.Node("n", pooltest.HasLabel("bmc", "yes")), []string{"other"}},
		// Regression: a deleted pool waited forever for the agent of a node that had left it before.
		"one whose firewall rules it still has": {pooltest.Node("n", reporting(t, nodefirewall.Report{Active: map[string]string{"gone": "1"}, HostPools: []string{"other"}})), []string{"gone", "other"}},
		"one that is gone altogether":           {pooltest.Node("n", pooltest.HasLedger(`{"labels":{"x":{"value":"","pools":["gone"]}}}`)), []string{"gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			pooltest.Same(t, "pools", c.want, concerned(c.node, pools), cmpopts.EquateEmpty())
			for _, pool := range pools {
				if slices.Contains(c.want, pool.Name) && pool != other && !mayConcern(pool, c.node) {
					t.Errorf("expected the quick look not to rule out pool %s", pool.Name)
				}
			}
			if name == "one that it left" {
				pooltest.LacksRole("gold")(c.node)
				pooltest.Same(t, "pools without the role label", c.want, concerned(c.node, pools))
			}
		})
	}
}

// reporting gives a node the report of a firewall agent.
func reporting(t *testing.T, report nodefirewall.Report) pooltest.NodeOption {
	text, err := nodefirewall.EncodeReport(report)
	if err != nil {
		t.Fatal(err)
	}
	return pooltest.HasAnnotation(nodefirewall.ReportAnnotation, text)
}

func TestAPoolsOwnStatusIsNoChangeOfItsSpec(t *testing.T) {
	base := pooltest.Pool("gold")
	for name, c := range map[string]struct {
		change pooltest.PoolOption
		want   bool
	}{
		"status":       {func(p *nodesv1.NodePool) { p.Status.NodeCount, p.ResourceVersion = 1, "2" }, false},
		"a finalizer":  {func(p *nodesv1.NodePool) { p.Finalizers = []string{finalizer} }, false},
		"the spec":     {func(p *nodesv1.NodePool) { p.Generation++ }, true},
		"a pause":      {pooltest.IsPaused(), true},
		"a dry run":    {pooltest.InDryRun(), true},
		"the deletion": {pooltest.BeingDeleted, true},
	} {
		t.Run(name, func(t *testing.T) {
			after := base.DeepCopy()
			c.change(after)
			if got := specChanged(base, after); got != c.want {
				t.Errorf("expected a change of the spec: %t, got %t", c.want, got)
			}
		})
	}
}

func TestARuntimeClassConcernsThePoolOfItsName(t *testing.T) {
	if got := sameName(t.Context(), pooltest.Pool("gold")); len(got) != 1 || got[0].Name != "gold" {
		t.Errorf("expected pool gold to be looked at, got %v", got)
	}
}
