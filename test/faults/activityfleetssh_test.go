// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/test/faults"
)

// fleetOverSSH runs a command on three machines in two batches. It fails on the second machine, and succeeds there in a
// second run with other batches, which the other machines do not join.
var fleetOverSSH = faults.Workload{
	Name: "over SSH", World: reachable,
	Steps: []faults.Step{
		{
			Name:  "have a command run over SSH that fails on db2",
			Do:    func(u *faults.User) { u.Apply(machines("false on db2", "batches: [1], maxFailures: 1")) },
			Until: machinesAre(egov1.StateFailed, 1, 2, 1),
		},
		{
			Name: "run it again with other batches",
			Do: func(u *faults.User) {
				a := &egov1.Activity{}
				a.Namespace = "default"
				u.Patch("upgrade", a, `{"spec":{"run":2,"hosts":{"batches":["50%"]}}}`)
			},
			Until: machinesAre(egov1.StateSucceeded, 2, 3, 0),
		},
	},
}

// deletingOverSSH deletes a fleet while its command runs, so that the keys for SSH are beside a pod.
var deletingOverSSH = faults.Workload{
	Name: "deleting over SSH", World: reachable,
	Steps: []faults.Step{
		// A case deletes the Activity of a host, which counts as a failure.
		{Name: "have sleep run over SSH", Do: func(u *faults.User) { u.Apply(machines("sleep", "maxFailures: 3")) }, Until: oneHostRuns},
		{
			Name: "delete the fleet",
			Do: func(u *faults.User) {
				a := &egov1.Activity{}
				a.Namespace = "default"
				u.Delete("upgrade", a)
			},
			Until: nothingOfTheFleet,
		},
	},
}

// reachable creates the Secret with the keys for SSH.
func reachable(w *faults.World) {
	schedulable(w)
	w.Apply("apiVersion: v1\nkind: Secret\nmetadata: {name: logins, namespace: default}\nstringData: {ssh-privatekey: private, known_hosts: known}\n")
}

// machines returns a fleet on three machines outside the cluster.
func machines(command, limits string) string {
	return `
apiVersion: ego.example.com/v1
kind: Activity
metadata: {name: upgrade, namespace: default}
spec:
  command: "` + command + `"
  hosts: {ssh: {secret: logins, hosts: [
    {name: db1, address: db1.example.com}, {name: db2, address: "db2.example.com:2222"}, {name: db3, address: db3.example.com}
  ]}, maxUnavailable: 1, ` + limits + `}
`
}

// machinesAre holds if the fleet is in a state, with the results of so many machines, and no copy of the keys is left.
func machinesAre(state egov1.State, number int64, succeeded, failed int32) func(faults.View) error {
	return func(v faults.View) error {
		if err := fleetIs(state, number)(v); err != nil {
			return err
		}
		a, err := theFleet(v)
		secrets := &corev1.SecretList{}
		if err := errors.Join(err, v.List(secrets)); err != nil {
			return err
		}
		if f := a.Status.Fleet; f.Succeeded != succeeded || f.Failed != failed {
			return fmt.Errorf("the command succeeded on %d hosts and failed on %d", f.Succeeded, f.Failed)
		}
		for _, s := range secrets.Items {
			if s.Namespace == run.Namespace {
				return fmt.Errorf("the keys in Secret %s are left", s.Name)
			}
		}
		return nil
	}
}

// nothingOfTheFleet holds if the fleet and its Activities are gone, with their pods and the copies of the keys. An
// Activity of a host that a case deletes and recreates belongs to no fleet, so it stays.
func nothingOfTheFleet(v faults.View) error {
	exists := map[string]bool{}
	for _, a := range v.Objects("Activity") {
		if a.GetName() == "upgrade" || metav1.GetControllerOf(a) != nil {
			return fmt.Errorf("Activity %s still exists", a.GetName())
		}
		exists[string(a.GetUID())] = true
	}
	for _, kind := range []string{"Pod", "Secret"} {
		for _, object := range v.Objects(kind) {
			if object.GetNamespace() == run.Namespace && !exists[object.GetLabels()[common.OwnerLabel]] {
				return fmt.Errorf("%s %s is left", kind, object.GetName())
			}
		}
	}
	return nil
}

// machinesSucceeded checks that a fleet over SSH is truly ready: the command has succeeded on each machine.
func machinesSucceeded(v faults.View, a *egov1.Activity) error {
	all, done := &egov1.ActivityList{}, map[egov1.SSHAddress]bool{}
	if err := v.List(all); err != nil {
		return err
	}
	for _, child := range all.Items {
		if child.Spec.SSH != nil && child.Status.Prosta == egov1.StateSucceeded {
			done[child.Spec.SSH.Address] = true
		}
	}
	for _, host := range a.Spec.Hosts.SSH.Hosts {
		if !done[host.Address] {
			return fmt.Errorf("the command has not succeeded on %s", host.Address)
		}
	}
	return nil
}
