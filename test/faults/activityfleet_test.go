// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/test/faults"
)

// A fleet creates an Activity per host. No fault may make it run a command twice on a host, or on more hosts at once
// than its budget allows.
func TestActivityFleet(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:    activity.Kind(),
		Nodes:   3,
		Primary: &egov1.Activity{},
		Others:  []client.Object{&corev1.Pod{}, &corev1.Secret{}, &corev1.Node{}},
		Truth:   hostsSucceeded,
		Invariants: []faults.Invariant{
			{Name: "a run never has a second pod", Check: onePodARun},
			{Name: "the result of an ended run never changes", Check: endsStay},
			{Name: "a host never has a second Activity in a run", Check: oneActivityAHost},
			{Name: "maxUnavailable is never exceeded", Check: budgetKept},
			{Name: "a command of a fleet that drains begins only on a cordoned node", Check: beginsCordoned},
			{Name: "a machine never has a second pod in a run of a fleet", Check: onePodAMachine()},
			{Name: "pods never run on more machines than maxUnavailable", Check: connectionsKept},
		},
		Mask:          maskFleet,
		OperatorField: "cancel", // the operator cancels the Activities of the hosts of a cancelled fleet
		Workloads: []faults.Workload{
			oneByOne, twoAtOnce, cancellingAll, repeatingFailed, drainingOne, deletingDrain, fleetOverSSH, deletingOverSSH,
		},
	})
}

// fleetManifest returns a fleet on the three hosts of the test.
func fleetManifest(command, limits string) string {
	return `
apiVersion: ego.example.com/v1
kind: Activity
metadata: {name: upgrade, namespace: default}
spec: {command: "` + command + `", hosts: {names: [shared-0, shared-1, shared-2]` + limits + `}}
`
}

func doOnAll(command, limits string, state egov1.State) faults.Step {
	return faults.Step{
		Name:  "have " + command + " run on all hosts",
		Do:    func(u *faults.User) { u.Apply(fleetManifest(command, limits)) },
		Until: fleetIs(state, 1),
	}
}

func changeFleet(name, patch string, state egov1.State, run int64) faults.Step {
	return faults.Step{
		Name: name,
		Do: func(u *faults.User) {
			a := &egov1.Activity{}
			a.Namespace = "default"
			u.Patch("upgrade", a, patch)
		},
		Until: fleetIs(state, run),
	}
}

var oneByOne = faults.Workload{
	Name: "one by one", World: policies,
	Steps: []faults.Step{doOnAll("true", "", egov1.StateSucceeded)},
}

var twoAtOnce = faults.Workload{
	Name: "two at once", World: policies,
	Steps: []faults.Step{doOnAll("true", ", maxUnavailable: 2, canary: {hosts: 1}", egov1.StateSucceeded)},
}

var cancellingAll = faults.Workload{
	Name: "cancelling", World: policies,
	Steps: []faults.Step{
		// A case deletes the Activity of a host, which counts as a failure.
		{Name: "have sleep run on all hosts", Do: func(u *faults.User) { u.Apply(fleetManifest("sleep", ", maxFailures: 3")) }, Until: oneHostRuns},
		changeFleet("cancel it", `{"spec":{"cancel":true}}`, egov1.StateCancelled, 1),
	},
}

var repeatingFailed = faults.Workload{
	Name: "repeating", World: policies,
	Steps: []faults.Step{
		doOnAll("false", "", egov1.StateFailed),
		changeFleet("run it again", `{"spec":{"run":2}}`, egov1.StateFailed, 2),
	},
}

func fleetIs(state egov1.State, run int64) func(faults.View) error {
	return func(v faults.View) error {
		a, err := theFleet(v)
		if err != nil {
			return err
		}
		if a.Status.Prosta != state || a.Status.Run != run || a.Status.ObservedGeneration != a.Generation {
			return fmt.Errorf("the status is %+v", a.Status)
		}
		return nil
	}
}

func theFleet(v faults.View) (*egov1.Activity, error) {
	all := &egov1.ActivityList{}
	if err := v.List(all); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all.Items, func(a egov1.Activity) bool { return a.Name == "upgrade" })
	if i < 0 {
		return nil, errors.New("there is no fleet")
	}
	return &all.Items[i], nil
}

// oneHostRuns holds while the command runs on a host. The number of pods would vary if a cancel came earlier.
func oneHostRuns(v faults.View) error {
	if err := fleetIs(egov1.StateRunning, 1)(v); err != nil {
		return err
	}
	all := &egov1.ActivityList{}
	if err := v.List(all); err != nil {
		return err
	}
	if !slices.ContainsFunc(all.Items, func(a egov1.Activity) bool { return a.Status.Fleet != nil && a.Status.Fleet.Running == 1 }) {
		return errors.New("the command runs on no host")
	}
	return nil
}

// hostsSucceeded checks that a ready fleet is truly ready: the Activity of each host has succeeded.
func hostsSucceeded(v faults.View, object client.Object) error {
	a := object.(*egov1.Activity)
	if a.Spec.Hosts == nil {
		return commandSucceeded(v, object)
	}
	if a.Spec.Hosts.SSH != nil {
		return machinesSucceeded(v, a)
	}
	all := &egov1.ActivityList{}
	if err := v.List(all); err != nil {
		return err
	}
	n := 0
	for i := range all.Items {
		if all.Items[i].Spec.Host != "" && all.Items[i].Status.Prosta == egov1.StateSucceeded {
			n++
		}
	}
	if n < len(a.Spec.Hosts.Names) {
		return fmt.Errorf("the command has succeeded on %d hosts", n)
	}
	return nil
}

// oneActivityAHost holds if the Activity of a host is only gone after its fleet has recorded its deletion. Without the
// record, the host could run the command again in the same run.
func oneActivityAHost(before, after faults.View, e faults.Event) error {
	if e.Key.Kind != "Activity" || !e.Gone {
		return nil
	}
	host, _, _ := unstructured.NestedString(e.Object.Object, "spec", "host")
	for _, a := range after.Objects("Activity") {
		removed, _, _ := unstructured.NestedSlice(a.Object, "status", "fleet", "removed")
		recorded := slices.ContainsFunc(removed, func(r any) bool { return r.(map[string]any)["host"] == host })
		if metav1.IsControlledBy(e.Object, a) && a.GetDeletionTimestamp() == nil && !recorded {
			return errors.New("the Activity of a host is gone, and its fleet has no record of it")
		}
	}
	return nil
}

// budgetKept holds if no more hosts have a pending or running Activity of the fleet than the fleet allows.
func budgetKept(before, after faults.View, e faults.Event) error {
	most, active := int64(1), int64(0)
	for _, a := range after.Objects("Activity") {
		if n, found, _ := unstructured.NestedInt64(a.Object, "spec", "hosts", "maxUnavailable"); found {
			most = n
		}
		state, _ := endOf(a)
		if metav1.GetControllerOf(a) != nil && (state == "Pending" || state == "Running" || state == "") {
			active++
		}
	}
	if active > most {
		return fmt.Errorf("the command is pending or running on %d hosts, and %d are allowed", active, most)
	}
	return nil
}

// maskFleet removes fields that differ between runs, in addition to those of single Activities. The names of pods and
// the hash contain UIDs, so the order of the pods varies, and their owners are not compared.
func maskFleet(object *unstructured.Unstructured) {
	maskActivity(object)
	switch object.GetKind() {
	case "Activity":
		unstructured.RemoveNestedField(object.Object, "status", "specHash")
		// An operator that sees only the last state of a cancelled fleet creates no Activity of a host.
		if cancel, _, _ := unstructured.NestedBool(object.Object, "spec", "cancel"); cancel && object.GetName() != "upgrade" {
			clear(object.Object)
		}
	case "Pod":
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "opcrew.io/activity")
		unstructured.RemoveNestedField(object.Object, "metadata", "labels", "opcrew.io/owner")
	}
}
