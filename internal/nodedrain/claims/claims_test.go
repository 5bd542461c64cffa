// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func newNode(annotations map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1", Annotations: annotations}}
}

func TestARecordOfACordonIsReadAsItWasWritten(t *testing.T) {
	want := Cordon{Namespace: "chores", Name: "upgrade", UID: "u", Run: 3, At: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)}
	if got := CordonOf(newNode(map[string]string{FleetCordon: want.String()})); got == nil || *got != want {
		t.Errorf("expected %+v, got %+v", want, got)
	}
	for _, text := range []string{"", "true", "a b c d e", "a b c 1 yesterday", want.String() + " more", "a b c 01 2026-11-26T12:00:00Z"} {
		if got := CordonOf(newNode(map[string]string{FleetCordon: text})); got != nil {
			t.Errorf("expected %q not to be the record of a fleet, got %+v", text, got)
		}
	}
}

func TestWhenMachineConfigChangesANode(t *testing.T) {
	settled := map[string]string{
		machineorder.CurrentConfig: "a", machineorder.DesiredConfig: "a", machineorder.State: machineorder.StateDone,
		machineorder.DesiredDrain: "uncordon-a", machineorder.LastAppliedDrain: "uncordon-a",
	}
	degraded := map[string]string{machineorder.DesiredConfig: "b", machineorder.State: machineorder.StateDegraded}
	for name, c := range map[string]struct {
		edit     map[string]string
		cordoned bool
		want     bool
	}{
		"it has what it should have":        {nil, false, false},
		"it has an order":                   {map[string]string{machineorder.DesiredConfig: "b"}, false, true},
		"its agent asks for the uncordon":   {map[string]string{machineorder.LastAppliedDrain: "drain-a"}, false, true},
		"MachineConfig has cordoned it":     {map[string]string{MachineCordon: "2026-11-26T12:00:00Z"}, true, true},
		"a user has uncordoned it since":    {map[string]string{MachineCordon: "2026-11-26T12:00:00Z"}, false, false},
		"another has cordoned it":           {nil, true, false},
		"it belongs to no pool":             {map[string]string{machineorder.DesiredConfig: ""}, false, false},
		"it has failed":                     {merged(degraded, machineorder.ReportAnnotation, `{"config":"b","phase":"Failed"}`), false, false},
		"it has failed with an earlier one": {merged(degraded, machineorder.ReportAnnotation, `{"config":"c","phase":"Failed"}`), false, true},
		"its report cannot be read":         {merged(degraded, machineorder.ReportAnnotation, "{"), false, true},
	} {
		node := newNode(maps.Clone(settled))
		maps.Copy(node.Annotations, c.edit)
		node.Spec.Unschedulable = c.cordoned
		if got := ByMachineConfig(node); got != c.want {
			t.Errorf("%s: expected MachineConfig to change the node: %t, got %t", name, c.want, got)
		}
	}
}

func merged(all map[string]string, key, value string) map[string]string {
	out := maps.Clone(all)
	out[key] = value
	return out
}

func TestWhichActivitiesOccupyTheirHost(t *testing.T) {
	fleet, pool := map[string]string{FleetLabel: "upgrade"}, map[string]string{PoolLabel: "web"}
	of := func(labels map[string]string, run int64, state egov1.State) egov1.Activity {
		a := egov1.Activity{ObjectMeta: metav1.ObjectMeta{Namespace: "chores", Name: "a", Labels: labels}}
		a.Spec.Host, a.Status.Run, a.Status.Prosta = "node1", run, state
		return a
	}
	outside := of(fleet, 1, egov1.StateRunning)
	outside.Spec.SSH = &egov1.SSH{}
	for name, c := range map[string]struct {
		a    egov1.Activity
		want bool
	}{
		"a machine outside":            {outside, false},
		"a fleet's that is new":        {of(fleet, 0, ""), true},
		"a fleet's that is pending":    {of(fleet, 1, egov1.StatePending), true},
		"a fleet's that runs":          {of(fleet, 1, egov1.StateRunning), true},
		"a NodePool's that runs":       {of(pool, 1, egov1.StateRunning), true},
		"a fleet's that has ended":     {of(fleet, 1, egov1.StateSucceeded), false},
		"a fleet's that was refused":   {of(fleet, 1, egov1.StateRefused), false},
		"one that a user created":      {of(nil, 1, egov1.StateRunning), false},
		"one that is to run once more": {of(pool, 0, egov1.StateFailed), true},
	} {
		if got := Hosts([]egov1.Activity{c.a})["node1"]; (got == "chores/a") != c.want {
			t.Errorf("%s: expected the host to be occupied: %t, got %q", name, c.want, got)
		}
	}
}
