// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"encoding/json"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/test/faults"
)

// connection is what a pod of a fleet over SSH does.
type connection struct {
	fleet types.UID
	// activity is the namespace and name of the Activity of the host, which contains the run of the fleet.
	activity, address string
}

// connectionOf returns nil if the pod belongs to no fleet over SSH.
func connectionOf(v faults.View, pod *unstructured.Unstructured) *connection {
	order := struct{ SSH *struct{ Host, Port string } }{}
	if json.Unmarshal([]byte(pod.GetAnnotations()[run.OrderAnnotation]), &order) != nil || order.SSH == nil {
		return nil
	}
	for _, a := range v.Objects("Activity") {
		if fleet := metav1.GetControllerOf(a); fleet != nil && string(a.GetUID()) == pod.GetLabels()[common.OwnerLabel] {
			return &connection{fleet.UID, pod.GetAnnotations()[run.ActivityAnnotation], order.SSH.Host + ":" + order.SSH.Port}
		}
	}
	return nil
}

// onePodAMachine returns a check that holds if a machine never has a second pod in a run of a fleet, even if the first
// one and its Activity are gone. It remembers all pods: the UID of a fleet identifies it in all cases.
func onePodAMachine() func(before, after faults.View, e faults.Event) error {
	var pods sync.Map
	return func(_, after faults.View, e faults.Event) error {
		if e.Key.Kind != "Pod" || e.Gone {
			return nil
		}
		c := connectionOf(after, e.Object)
		if c == nil {
			return nil
		}
		if first, had := pods.LoadOrStore(*c, e.Object.GetUID()); had && first != e.Object.GetUID() {
			return fmt.Errorf("a second pod of %s runs the command on %s", c.activity, c.address)
		}
		return nil
	}
}

// connectionsKept holds if no more machines have a pod of the fleet that has not ended than the fleet allows.
func connectionsKept(_, after faults.View, e faults.Event) error {
	if e.Key.Kind != "Pod" {
		return nil
	}
	open := map[types.UID]int64{}
	for _, pod := range after.Objects("Pod") {
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		if c := connectionOf(after, pod); c != nil && phase != "Succeeded" && phase != "Failed" {
			open[c.fleet]++
		}
	}
	for _, a := range after.Objects("Activity") {
		most, _, _ := unstructured.NestedInt64(a.Object, "spec", "hosts", "maxUnavailable")
		if n := open[a.GetUID()]; n > most {
			return fmt.Errorf("pods run the command on %d machines, and %d are allowed", n, most)
		}
	}
	return nil
}
