// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/test/faults"
)

// machinesHave returns a condition that holds if pool steel reports that its nodes have a configuration with the given
// content, and they truly have it. An empty content means an empty configuration.
func machinesHave(nodes int32, content string) func(faults.View) error {
	return func(v faults.View) error {
		pool := &mcfgv1.MachineConfigPool{}
		if err := v.Get("steel", pool); err != nil {
			return err
		}
		if !isUpdated(pool) || pool.Status.ReadyMachineCount != nodes {
			return fmt.Errorf("the pool reports %d of %d nodes as ready, and the conditions %v", pool.Status.ReadyMachineCount, nodes, pool.Status.Conditions)
		}
		if err := rendersOnly(v, pool, content); err != nil {
			return err
		}
		return machinesAreUpdated(v, pool)
	}
}

// rendersOnly returns nil if the rendered configuration of a pool has the given content, and no other files.
func rendersOnly(v faults.View, pool *mcfgv1.MachineConfigPool, content string) error {
	rendered := &mcfgv1.MachineConfig{}
	if err := v.Get(pool.Spec.Configuration.Name, rendered); err != nil {
		return err
	}
	found := string(rendered.Spec.Config.Raw)
	if !strings.Contains(found, content) || content == "" && strings.Contains(found, "data:") {
		return fmt.Errorf("%s has the content %s, expected %q", rendered.Name, found, content)
	}
	return nil
}

func isUpdated(pool *mcfgv1.MachineConfigPool) bool {
	return pool.Status.ObservedGeneration == pool.Generation && meta.IsStatusConditionTrue(pool.Status.Conditions, mcfgv1.PoolUpdated)
}

// onlyMachineHas returns a condition that holds if one node has the configuration, and another one, which a user
// cordoned, is as the user left it.
func onlyMachineHas(updated, cordoned string) func(faults.View) error {
	return func(v faults.View) error {
		a, b := &corev1.Node{}, &corev1.Node{}
		if err := v.Get(updated, a); err != nil {
			return err
		}
		if err := v.Get(cordoned, b); err != nil {
			return err
		}
		pool := &mcfgv1.MachineConfigPool{}
		if err := v.Get("steel", pool); err != nil {
			return err
		}
		if err := settled(a, pool.Spec.Configuration.Name); err != nil {
			return err
		}
		if _, ordered := b.Annotations[mcfgv1.DesiredConfigAnnotation]; ordered || !b.Spec.Unschedulable {
			return fmt.Errorf("node %s, which a user cordoned, has annotations %v", cordoned, b.Annotations)
		}
		if pool.Status.UpdatedMachineCount != 1 || pool.Status.UnavailableMachineCount != 1 {
			return fmt.Errorf("the pool reports %+v", pool.Status)
		}
		return nil
	}
}

// machinesAreUpdated checks that all nodes of an updated pool have its configuration, and nothing that is left of an
// update.
func machinesAreUpdated(v faults.View, object client.Object) error {
	pool := object.(*mcfgv1.MachineConfigPool)
	if !isUpdated(pool) {
		return nil // a pool is Ready while it changes its nodes
	}
	nodes := &corev1.NodeList{}
	if err := v.List(nodes); err != nil {
		return err
	}
	for i := range nodes.Items {
		if _, member := nodes.Items[i].Labels["node-role.kubernetes.io/"+pool.Name]; !member {
			continue
		}
		if err := settled(&nodes.Items[i], pool.Spec.Configuration.Name); err != nil {
			return err
		}
	}
	return nil
}

func settled(node *corev1.Node, config string) error {
	found := node.Annotations[mcfgv1.CurrentConfigAnnotation]
	if found != config || config == "" || node.Spec.Unschedulable || node.Annotations[cordonedByOpcrew] != "" || hasTaint(node, mcfgv1.UpdateTaint, "") {
		return fmt.Errorf("node %s has %s, unschedulable %t, taints %v and annotations %v; expected %s, and nothing that is left of an update",
			node.Name, found, node.Spec.Unschedulable, node.Spec.Taints, node.Annotations, config)
	}
	return nil
}

// maskMachine removes the status of nodes, and the annotations with orders and reports: they have times and addresses,
// and stay when a pool is deleted, because hosts keep their configuration. The conditions of the steps check them.
func maskMachine(object *unstructured.Unstructured) {
	if object.GetKind() != "Node" {
		return
	}
	maskNode(object)
	for key := range object.GetAnnotations() {
		ofHost := strings.HasPrefix(key, "opcrew.io/machine-") || strings.HasPrefix(key, "machineconfiguration.openshift.io/")
		if ofHost && key != cordonedByOpcrew {
			unstructured.RemoveNestedField(object.Object, "metadata", "annotations", key)
		}
	}
}
