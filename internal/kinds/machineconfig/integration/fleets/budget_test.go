// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleets

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// On simulated nodes, a command other than true and false ends when it is stopped.
func TestMachineConfigWaitsForTheActivityOfAFleet(t *testing.T) {
	s := newSite(t, "busy")
	a := s.fleet("sleep")
	s.create(a)
	s.awaitFleet(egov1.StateRunning, "")
	s.configure()
	s.awaitPool(1, "Node "+s.nodes[0]+" does not change: Activity "+s.ns+"/upgrade-1-"+s.nodes[0]+" works on it")
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"cancel":true}}`))
	if err := env.Client.Patch(t.Context(), a, patch); err != nil {
		t.Fatal(err)
	}
	s.awaitPool(2, "")
}

func TestMachineConfigWaitsForTheDrainOfAFleet(t *testing.T) {
	s := newSite(t, "drained")
	budget := s.blocker()
	a := s.fleet("true")
	a.Spec.Hosts.Drain = &egov1.Drain{}
	s.create(a)
	s.awaitFleet(egov1.StateRunning, "cannot be drained yet")
	s.configure()
	s.awaitPool(1, "Activity "+s.ns+"/upgrade works on it")
	s.drop(budget)
	s.awaitFleet(egov1.StateSucceeded, "")
	s.awaitPool(2, "")
}

func TestAFleetWaitsForAChangeByMachineConfig(t *testing.T) {
	s := newSite(t, "changing")
	budget := s.blocker()
	s.configure()
	s.awaitPool(1, "cannot be drained: pod "+s.ns+"/db")
	s.create(s.fleet("true"))
	s.awaitFleet(egov1.StatePending, s.nodes[0]+" is being changed by MachineConfig")
	s.drop(budget)
	s.awaitPool(2, "")
	s.awaitFleet(egov1.StateSucceeded, "")
	n := &corev1.Node{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: s.nodes[0]}, n); err != nil {
		t.Fatal(err)
	}
	if n.Spec.Unschedulable || n.Annotations[machineorder.CurrentConfig] != n.Annotations[machineorder.DesiredConfig] {
		t.Errorf("expected the node to be schedulable with its configuration, got %+v", n.Annotations)
	}
}
