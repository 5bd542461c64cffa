// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/faults"
)

func all(checks ...func(faults.View) error) func(faults.View) error {
	return func(v faults.View) error {
		for _, check := range checks {
			if err := check(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// poolReady returns a condition that holds if a pool reports Ready for its current spec with the given number of nodes,
// and truly is ready.
func poolReady(name string, nodes int32) func(faults.View) error {
	return func(v faults.View) error {
		pool := &nodesv1.NodePool{}
		if err := v.Get(name, pool); err != nil {
			return err
		}
		if err := condition(name, "True", "")(v); err != nil {
			return err
		}
		if pool.Status.NodeCount != nodes || pool.Status.ReadyNodes != nodes {
			return fmt.Errorf("NodePool %s reports %d nodes, %d of them ready, expected %d", name, pool.Status.NodeCount, pool.Status.ReadyNodes, nodes)
		}
		return poolIsAsWanted(v, pool)
	}
}

func poolGone(name string) func(faults.View) error {
	return func(v faults.View) error {
		if err := v.Gone(name, &nodesv1.NodePool{}); err != nil {
			return err
		}
		return v.Gone(name, &nodev1.RuntimeClass{})
	}
}

// condition returns a condition that holds if Ready of a pool has the given status and reason for the current spec.
func condition(name string, status metav1.ConditionStatus, reason string) func(faults.View) error {
	return func(v faults.View) error {
		pool := &nodesv1.NodePool{}
		if err := v.Get(name, pool); err != nil {
			return err
		}
		if pool.Status.ObservedGeneration != pool.Generation {
			return fmt.Errorf("the status of NodePool %s describes generation %d, not %d", name, pool.Status.ObservedGeneration, pool.Generation)
		}
		for _, c := range pool.Status.Conditions {
			if c.Type == "Ready" && (c.Status != status || reason != "" && c.Reason != reason) {
				return fmt.Errorf("NodePool %s has Ready=%s, %s: %s", name, c.Status, c.Reason, c.Message)
			}
		}
		return nil
	}
}

func classHandler(name, handler string) func(faults.View) error {
	return func(v faults.View) error {
		class := &nodev1.RuntimeClass{}
		if err := v.Get(name, class); err != nil {
			return err
		}
		if class.Handler != handler {
			return fmt.Errorf("RuntimeClass %s has handler %s, expected %s", name, class.Handler, handler)
		}
		return nil
	}
}

// poolIsAsWanted checks that a ready pool is truly ready. Its RuntimeClass must have the handler in the spec. Every
// node with the pool's role label must have the labels, annotations and taints in the spec.
func poolIsAsWanted(v faults.View, object client.Object) error {
	pool := object.(*nodesv1.NodePool)
	class := &nodev1.RuntimeClass{}
	if err := v.Get(pool.Name, class); err != nil {
		return err
	}
	if owner := metav1.GetControllerOf(class); owner == nil || owner.UID != pool.UID {
		return fmt.Errorf("RuntimeClass %s does not belong to the pool", class.Name)
	}
	if class.Handler != pool.Handler() {
		return fmt.Errorf("RuntimeClass %s has handler %s", class.Name, class.Handler)
	}
	nodes := &corev1.NodeList{}
	if err := v.List(nodes); err != nil {
		return err
	}
	for i := range nodes.Items {
		if err := carries(&nodes.Items[i], pool); err != nil {
			return err
		}
	}
	return nil
}

func carries(node *corev1.Node, pool *nodesv1.NodePool) error {
	if _, member := node.Labels[pool.RoleLabel()]; !member {
		return nil
	}
	for key, value := range pool.Spec.Labels {
		if node.Labels[key] != string(value) {
			return fmt.Errorf("node %s has %s=%q", node.Name, key, node.Labels[key])
		}
	}
	for key, value := range pool.Spec.Annotations {
		if node.Annotations[key] != string(value) {
			return fmt.Errorf("node %s has annotation %s=%q", node.Name, key, node.Annotations[key])
		}
	}
	for _, want := range pool.Spec.Taints {
		if !hasTaint(node, want.Key, want.Value) {
			return fmt.Errorf("node %s lacks taint %s=%s", node.Name, want.Key, want.Value)
		}
	}
	return nil
}

func hasTaint(node *corev1.Node, key, value string) bool {
	for _, t := range node.Spec.Taints {
		if t.Key == key && t.Value == value {
			return true
		}
	}
	return false
}
