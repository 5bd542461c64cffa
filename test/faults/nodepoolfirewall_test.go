// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/firewallagents"
)

// TestNodePoolWithFirewall attacks the delivery of firewall rules to agents, which the test plays.
func TestNodePoolWithFirewall(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:    nodepool.Kind(),
		Primary: &nodesv1.NodePool{},
		Others: []client.Object{
			&corev1.Node{}, &nodev1.RuntimeClass{}, &corev1.ConfigMap{}, &appsv1.DaemonSet{},
		},
		Server: playFirewalls,
		Truth:  firewallIsAsWanted,
		Invariants: []faults.Invariant{
			{Name: "agents exist while a node has rules", Check: agentsOutliveRules},
		},
		Mask:  maskFirewall,
		Touch: taintNode,
		// A pool that is deleted and created again keeps the agents, if its reports are still there.
		Uncounted: []string{"ConfigMap kube-root-ca.crt", "ConfigMap nodes", "DaemonSet opcrew-firewall", "DaemonSet opcrew-host-firewall"},
		Workloads: []faults.Workload{walled},
	})
}

func playFirewalls(t *testing.T, env *testenv.Env) {
	for _, file := range []string{"firewall_namespace", "firewall_agent"} {
		env.Apply(t, "config/cluster/"+file+".yaml")
	}
	firewallagents.Follow(t, env.Client)
}

// walled gives a pool a firewall, lets a node join and leave, changes the rules, and deletes the pool.
var walled = faults.Workload{
	Name: "walled",
	World: func(w *faults.World) {
		w.Nodes(2, "n", map[string]string{"node-role.kubernetes.io/gold": ""})
		w.Nodes(1, "late", map[string]string{"zone": "a"})
	},
	Steps: []faults.Step{
		{
			Name: "create a pool with a firewall",
			Do: func(u *faults.User) {
				u.Apply(gold + "  firewall: {rules: [{from: [{nodePool: gold}], ports: [{port: 80}]}]}\n")
			},
			Until: all(firewallActive("gold", 2), poolReady("gold", 2)),
		},
		{
			Name: "a node joins",
			Do: func(u *faults.User) {
				u.Label("late-0", &corev1.Node{}, "node-role.kubernetes.io/gold", new(""))
			},
			Until: all(firewallActive("gold", 3), poolReady("gold", 3)),
		},
		{
			Name: "change the rules",
			Do: func(u *faults.User) {
				u.Patch("gold", &nodesv1.NodePool{}, `{"spec":{"firewall":{"hostFirewall":"Open","rules":[{"ports":[{"port":81}]}]}}}`)
			},
			Until: all(firewallActive("gold", 3), poolReady("gold", 3)),
		},
		{
			Name:  "a node leaves",
			Do:    func(u *faults.User) { u.Label("late-0", &corev1.Node{}, "node-role.kubernetes.io/gold", nil) },
			Until: all(firewallActive("gold", 2), poolReady("gold", 2)),
		},
		{
			Name:  "delete the pool",
			Do:    func(u *faults.User) { u.Delete("gold", &nodesv1.NodePool{}) },
			Until: all(poolGone("gold"), noAgents),
		},
	},
}

// firewallActive returns a condition that holds if the operator reports the current rules on a number of nodes.
func firewallActive(name string, nodes int32) func(faults.View) error {
	return func(v faults.View) error {
		pool := &nodesv1.NodePool{}
		if err := v.Get(name, pool); err != nil {
			return err
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolFirewallActive)
		if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != pool.Generation || pool.Status.Firewall.ActiveNodes != nodes {
			return fmt.Errorf("the firewall of %s is %+v, and not active on %d nodes", name, c, nodes)
		}
		return nil
	}
}

// noAgents holds if nothing of the firewall is left.
func noAgents(v faults.View) error {
	sets, maps := &appsv1.DaemonSetList{}, &corev1.ConfigMapList{}
	if err := errors.Join(v.List(sets), v.List(maps)); err != nil {
		return err
	}
	maps.Items = slices.DeleteFunc(maps.Items, func(m corev1.ConfigMap) bool { _, ours := m.Labels[nodefirewall.Label]; return !ours })
	if len(sets.Items)+len(maps.Items) > 0 {
		return fmt.Errorf("%d DaemonSets and %d ConfigMaps are left", len(sets.Items), len(maps.Items))
	}
	return nil
}

// firewallIsAsWanted holds if a pool is as wanted, and each member reports rules of it.
func firewallIsAsWanted(v faults.View, object client.Object) error {
	if err := poolIsAsWanted(v, object); err != nil {
		return err
	}
	pool, nodes := object.(*nodesv1.NodePool), &corev1.NodeList{}
	if pool.Spec.Firewall == nil {
		return nil
	}
	if err := v.List(nodes); err != nil {
		return err
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		_, member := node.Labels[pool.RoleLabel()]
		if report, _ := nodefirewall.ParseReport(node.Annotations[nodefirewall.ReportAnnotation]); member && report.Active[pool.Name] == "" {
			return fmt.Errorf("node %s reports no rules of the pool", node.Name)
		}
	}
	return nil
}

// agentsOutliveRules holds if the DaemonSet is not deleted while a node reports rules, as the operator could know.
func agentsOutliveRules(before, _ faults.View, e faults.Event) error {
	if e.Key.Kind != "DaemonSet" || !e.Gone || !before.Known("Node", e) {
		return nil
	}
	nodes := &corev1.NodeList{}
	if err := before.List(nodes); err != nil {
		return err
	}
	for i := range nodes.Items {
		if nodes.Items[i].Annotations[nodefirewall.ReportAnnotation] != "" {
			return fmt.Errorf("node %s still has rules", nodes.Items[i].Name)
		}
	}
	return nil
}

func maskFirewall(object *unstructured.Unstructured) {
	maskNode(object)
	if object.GetName() == "kube-root-ca.crt" {
		object.Object = map[string]any{}
	}
}
