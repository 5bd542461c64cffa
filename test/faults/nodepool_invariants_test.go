// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/faults"
)

// nodesAreLeftAlone holds if the operator changes only those labels, annotations and taints of a node that pools
// specify.
func nodesAreLeftAlone(before, after faults.View, e faults.Event) error {
	if e.Key.Kind != "Node" || e.Write == "" {
		return nil
	}
	was, now := &corev1.Node{}, &corev1.Node{}
	if err := before.Get(e.Key.Name, was); err != nil {
		return err // the operator creates no nodes, so this node existed before
	}
	if err := after.Get(e.Key.Name, now); err != nil {
		return err
	}
	for _, pair := range [][2]map[string]string{{was.Labels, now.Labels}, {was.Annotations, now.Annotations}} {
		for key := range changedKeys(pair[0], pair[1]) {
			if !ours(key) {
				return fmt.Errorf("the operator changed %s from %q to %q", key, pair[0][key], pair[1][key])
			}
		}
	}
	for _, t := range was.Spec.Taints {
		if !ours(t.Key) && !hasTaint(now, t.Key, t.Value) {
			return fmt.Errorf("the operator removed the taint %s", t.Key)
		}
	}
	if was.Spec.Unschedulable != now.Spec.Unschedulable {
		return fmt.Errorf("the operator changed unschedulable")
	}
	return nil
}

func changedKeys(was, now map[string]string) map[string]bool {
	keys := map[string]bool{}
	for key, value := range was {
		if other, there := now[key]; !there || other != value {
			keys[key] = true
		}
	}
	for key := range now {
		if _, there := was[key]; !there {
			keys[key] = true
		}
	}
	return keys
}

// nodesAreLedTowards holds if each write of the operator to a node follows the specs of the pools: the operator must
// not undo what a pool specifies, and must not add a label or taint that no pool specifies. The invariant is checked
// only if no pool has changed for a while, because the operator must then know all pools.
func nodesAreLedTowards(before, after faults.View, e faults.Event) error {
	if e.Key.Kind != "Node" || e.Write == "" || !before.Known("NodePool", e) {
		return nil
	}
	was, now, pools := &corev1.Node{}, &corev1.Node{}, &nodesv1.NodePoolList{}
	if err := errors.Join(before.Get(e.Key.Name, was), after.Get(e.Key.Name, now), after.List(pools)); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for i := range pools.Items {
		pool := &pools.Items[i]
		if pool.DeletionTimestamp != nil {
			continue
		}
		if _, member := was.Labels[pool.RoleLabel()]; member && carries(was, pool) == nil && carries(now, pool) != nil {
			return fmt.Errorf("the node had everything that NodePool %s specifies: %w", pool.Name, carries(now, pool))
		}
		wanted[pool.RoleLabel()] = true
		for key := range pool.Spec.Labels {
			wanted[key] = true
		}
	}
	for key := range now.Labels {
		if _, had := was.Labels[key]; !had && !wanted[key] {
			return fmt.Errorf("the node got the label %s, which no pool specifies", key)
		}
	}
	return nil
}

// ours reports whether a label or taint key belongs to the pools of the workloads, or to the operator.
func ours(key string) bool {
	for _, prefix := range []string{"node-role.kubernetes.io/", "node-pool.lailin.xyz", "example.com/", "opcrew.io/"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// classesHaveOwners holds if the operator creates a RuntimeClass only for an existing pool.
func classesHaveOwners(before, _ faults.View, e faults.Event) error {
	if e.Key.Kind != "RuntimeClass" || !e.New || e.Write == "" {
		return nil
	}
	owner := metav1.GetControllerOf(e.Object)
	if owner == nil {
		return fmt.Errorf("the RuntimeClass has no owner")
	}
	for _, pool := range before.Objects("NodePool") {
		if pool.GetUID() == owner.UID {
			return nil
		}
	}
	return fmt.Errorf("the owner %s (%s) of the RuntimeClass does not exist", owner.Name, owner.UID)
}

func oneClass(_, after faults.View, _ faults.Event) error {
	seen := map[string]string{}
	for _, class := range after.Objects("RuntimeClass") {
		owner := metav1.GetControllerOf(class)
		if owner == nil {
			continue
		}
		if other := seen[string(owner.UID)]; other != "" {
			return fmt.Errorf("%s and %s both belong to pool %s", other, class.GetName(), owner.Name)
		}
		seen[string(owner.UID)] = class.GetName()
	}
	return nil
}

// maskNode removes the node status, which the simulated kubelet writes.
func maskNode(object *unstructured.Unstructured) {
	if object.GetKind() == "Node" {
		unstructured.RemoveNestedField(object.Object, "status")
	}
}

// taintNode adds a taint to a node as another client. The operator replaces the list of taints as a whole, so it might
// lose this taint.
func taintNode(object *unstructured.Unstructured) {
	if object.GetKind() != "Node" {
		return
	}
	taints, _, _ := unstructured.NestedSlice(object.Object, "spec", "taints")
	for _, t := range taints {
		if t.(map[string]any)["key"] == faults.TouchPrefix+"taint" {
			return
		}
	}
	taints = append(taints, map[string]any{"key": faults.TouchPrefix + "taint", "effect": "PreferNoSchedule"})
	_ = unstructured.SetNestedSlice(object.Object, taints, "spec", "taints")
}
