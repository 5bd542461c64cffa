// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/test/faults"
)

// cordonedByOpcrew is the annotation of a node that opcrew cordoned.
const cordonedByOpcrew = "opcrew.io/machine-cordoned"

// machinesStayAvailable holds if no more nodes of a pool are ordered to change, or cordoned by opcrew, than
// spec.maxUnavailable allows. Nodes that users cordoned are not counted: they may do so at any time.
func machinesStayAvailable(_, after faults.View, e faults.Event) error {
	if e.Key.Kind != "Node" {
		return nil
	}
	pools, nodes := &mcfgv1.MachineConfigPoolList{}, &corev1.NodeList{}
	if err := errors.Join(after.List(pools), after.List(nodes)); err != nil {
		return err
	}
	for i := range pools.Items {
		pool, down := &pools.Items[i], []string{}
		for j := range nodes.Items {
			n := &nodes.Items[j]
			if _, member := n.Labels["node-role.kubernetes.io/"+pool.Name]; member && changes(n) {
				down = append(down, n.Name)
			}
		}
		most := 1
		if pool.Spec.MaxUnavailable != nil {
			most = pool.Spec.MaxUnavailable.IntValue()
		}
		if len(down) > most {
			return fmt.Errorf("%v of pool %s are unavailable, but its budget is %d", down, pool.Name, most)
		}
	}
	return nil
}

// changes reports whether a node has an order that its machine agent has not completed, or a cordon of opcrew.
func changes(n *corev1.Node) bool {
	ordered := n.Annotations[mcfgv1.DesiredConfigAnnotation] != n.Annotations[mcfgv1.CurrentConfigAnnotation]
	return ordered || n.Annotations[cordonedByOpcrew] != "" && n.Spec.Unschedulable
}

// cordonsOfUsersStay holds if the operator uncordons only nodes that it cordoned.
func cordonsOfUsersStay(before, after faults.View, e faults.Event) error {
	was, now, err := machine(before, after, e)
	if err != nil || was == nil {
		return err
	}
	if was.Spec.Unschedulable && !now.Spec.Unschedulable && was.Annotations[cordonedByOpcrew] == "" {
		return errors.New("the operator removed the cordon of a user")
	}
	if !was.Spec.Unschedulable && now.Spec.Unschedulable && now.Annotations[cordonedByOpcrew] == "" {
		return errors.New("the operator cordoned the node without a record that the cordon is its own")
	}
	return nil
}

// machinesAreLeftAlone holds if the operator changes no label, and only annotations and taints of this API.
func machinesAreLeftAlone(before, after faults.View, e faults.Event) error {
	was, now, err := machine(before, after, e)
	if err != nil || was == nil {
		return err
	}
	for key := range changedKeys(was.Labels, now.Labels) {
		return fmt.Errorf("the operator changed the label %s", key)
	}
	for key := range changedKeys(was.Annotations, now.Annotations) {
		if !strings.HasPrefix(key, "opcrew.io/machine-") && !strings.HasPrefix(key, "machineconfiguration.openshift.io/") {
			return fmt.Errorf("the operator changed the annotation %s", key)
		}
	}
	for _, taint := range was.Spec.Taints {
		if taint.Key != mcfgv1.UpdateTaint && !strings.HasPrefix(taint.Key, "node.kubernetes.io/") && !hasTaint(now, taint.Key, taint.Value) {
			return fmt.Errorf("the operator removed the taint %s", taint.Key)
		}
	}
	return nil
}

// machine returns a node before and after a write of the operator; nil for all other events.
func machine(before, after faults.View, e faults.Event) (was, now *corev1.Node, err error) {
	if e.Key.Kind != "Node" || e.Write == "" {
		return nil, nil, nil
	}
	was, now = &corev1.Node{}, &corev1.Node{}
	return was, now, errors.Join(before.Get(e.Key.Name, was), after.Get(e.Key.Name, now))
}
