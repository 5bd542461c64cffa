// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// cut disconnects a node from all other machines. It returns a function that reconnects the node.
func (c *chores) cut(t *testing.T, node string) func() {
	t.Helper()
	c.cluster.run(t, "localcluster", "node", "cut", node)
	heal := func() { c.cluster.run(t, "localcluster", "node", "heal", node) }
	t.Cleanup(heal) // reconnecting a connected node is no error
	return func() {
		t.Helper()
		heal()
		c.awaitWell(t)
	}
}

func TestCommandsRunOnThroughACutAndTheirEndsAreReported(t *testing.T) {
	c := newChores(t)
	early, late := c.tallied(t, "node3", "ends-early"), c.tallied(t, "node3", "ends-late")
	for _, y := range []tally{early, late} {
		y.await(t, y.name, egov1.StateRunning)
		y.awaitCounted(t, "begun")
	}
	heal := c.cut(t, "node3")
	early.release(t)
	early.awaitCounted(t, "ended")
	for _, y := range []tally{early, late} {
		a := y.awaitWords(t, y.name, "does not respond")
		if a.Status.Prosta != egov1.StateRunning {
			t.Errorf("expected %s to count as Running while its node is cut off, it is %s: %s", y.name, a.Status.Prosta, says(a))
		}
	}
	heal()
	early.wantOnce(t)
	late.awaitWords(t, late.name, "the command is running on node3")
	late.release(t)
	late.wantOnce(t)
}

// Activities are created, cancelled and deleted while their host is disconnected. After the host is reconnected, a new
// command must run exactly once, or never if its start deadline has passed.
func TestWhatIsAskedForInACutIsDoneWhenTheHostIsBackOrGivenUp(t *testing.T) {
	c := newChores(t)
	cancelled, deleted := c.tallied(t, "node3", "cancelled"), c.tallied(t, "node3", "deleted")
	for _, y := range []tally{cancelled, deleted} {
		y.awaitCounted(t, "begun")
		y.await(t, y.name, egov1.StateRunning)
	}
	heal := c.cut(t, "node3")
	deleted.awaitWords(t, deleted.name, "does not respond")
	patient, hasty := c.tallied(t, "node3", "patient", repairs), c.tallied(t, "node3", "hasty", repairs, beginsWithin(15))
	c.kubectl(t, "patch", "activity", "-n", c.ns, "cancelled", "--type=merge", "-p", `{"spec":{"cancel":true}}`)
	c.kubectl(t, "delete", "activity", "-n", c.ns, "deleted", "--timeout=60s")
	hasty.await(t, hasty.name, egov1.StateUnreachable)
	cancelled.awaitWords(t, cancelled.name, "does not respond")

	heal()
	deleted.wantNothingLeft(t)
	cancelled.await(t, cancelled.name, egov1.StateCancelled)
	cancelled.wantNothingLeft(t)
	patient.release(t)
	patient.wantOnce(t)
	hasty.wantNoPod(t)
	if begun := hasty.counted(t, "begun"); begun != 0 {
		t.Errorf("expected what was given up before the host was back not to begin there, it did %d times", begun)
	}
}

func beginsWithin(seconds int64) chore {
	return func(a *egov1.Activity) { a.Spec.StartDeadlineSeconds = &seconds }
}

// wantNoPod waits until the pod of the Activity's run is gone.
func (y tally) wantNoPod(t *testing.T) {
	t.Helper()
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "opcrew-activities", y.get(t, y.name).Status.Pod
	eventually.True(t, time.Minute, "the pod of "+y.name+" is gone", func() error {
		return eventually.Gone(y.Get(t.Context(), client.ObjectKeyFromObject(pod), pod), apierrors.IsNotFound)
	})
}
