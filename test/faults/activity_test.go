// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/test/faults"
)

// All Activities on a server run their pods in one shared namespace. So the fault tests treat this kind as
// cluster-scoped: a server runs only one case at a time.
func TestActivity(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:    activity.Kind(),
		Nodes:   1,
		Primary: &egov1.Activity{},
		Others:  []client.Object{&corev1.Pod{}, &corev1.Secret{}},
		Truth:   commandSucceeded,
		Invariants: []faults.Invariant{
			{Name: "a run never has a second pod", Check: onePodARun},
			{Name: "the result of an ended run never changes", Check: endsStay},
		},
		Mask:      maskActivity,
		Workloads: []faults.Workload{running, cancelling, repeating, overSSH},
	})
}

// policies applies the deployed admission policies, and waits until the API server enforces them.
func policies(w *faults.World) {
	w.ApplyFile("config/cluster/activity_namespace.yaml", "config/cluster/activity_requester.yaml", "config/cluster/activity_rights.yaml")
	// For a moment after the API server has discovered a CRD, it applies no mutating policy to objects of the CRD. So
	// wait until it sets the requester.
	w.Await("the API server records the requester", func(ctx context.Context, c client.Client) error {
		a := &egov1.Activity{}
		a.Namespace, a.Name, a.Spec.Command, a.Spec.Host = "default", "probe", "true", "shared-0"
		if err := c.Create(ctx, a, client.DryRunAll); err != nil || a.Spec.Requester == nil {
			return fmt.Errorf("the requester is %v: %w", a.Spec.Requester, err)
		}
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		if err := c.Get(ctx, client.ObjectKey{Name: "opcrew-activity-rights"}, binding); err != nil || time.Since(binding.CreationTimestamp.Time) < 12*time.Second {
			return fmt.Errorf("the policy exists only since %s: %w", binding.CreationTimestamp, err)
		}
		return nil
	})
}

func chore(command string) string {
	return `
apiVersion: ego.example.com/v1
kind: Activity
metadata: {name: chore, namespace: default}
spec: {command: "` + command + `", host: shared-0}
`
}

func do(command string, state egov1.State) faults.Step {
	return faults.Step{
		Name:  "have " + command + " run",
		Do:    func(u *faults.User) { u.Apply(chore(command)) },
		Until: choreIs(state, 1),
	}
}

func change(name, patch string, state egov1.State, run int64) faults.Step {
	return faults.Step{
		Name: name,
		Do: func(u *faults.User) {
			a := &egov1.Activity{}
			a.Namespace = "default"
			u.Patch("chore", a, patch)
		},
		Until: choreIs(state, run),
	}
}

var running = faults.Workload{
	Name:  "running",
	World: policies,
	Steps: []faults.Step{do("true", egov1.StateSucceeded)},
}

var cancelling = faults.Workload{
	Name:  "cancelling",
	World: policies,
	Steps: []faults.Step{
		do("sleep", egov1.StateRunning),
		change("cancel it", `{"spec":{"cancel":true}}`, egov1.StateCancelled, 1),
	},
}

var repeating = faults.Workload{
	Name:  "repeating",
	World: policies,
	Steps: []faults.Step{
		do("false", egov1.StateFailed),
		change("run it again", `{"spec":{"run":2}}`, egov1.StateFailed, 2),
	},
}

// overSSH copies the keys for SSH into the namespace of the pod before it creates the pod, and deletes them at the end.
var overSSH = faults.Workload{
	Name: "over SSH",
	World: func(w *faults.World) {
		policies(w)
		w.Apply("apiVersion: v1\nkind: Secret\nmetadata: {name: logins, namespace: default}\nstringData: {ssh-privatekey: private, known_hosts: known}\n")
	},
	Steps: []faults.Step{{
		Name: "have true run over SSH",
		Do: func(u *faults.User) {
			u.Apply(`
apiVersion: ego.example.com/v1
kind: Activity
metadata: {name: chore, namespace: default}
spec: {command: "true", host: db1, ssh: {address: db1.example.com, secret: logins}}
`)
		},
		Until: choreIs(egov1.StateSucceeded, 1),
	}},
}

func choreIs(state egov1.State, run int64) func(faults.View) error {
	return func(v faults.View) error {
		all := &egov1.ActivityList{}
		if err := v.List(all); err != nil || len(all.Items) != 1 {
			return fmt.Errorf("there are %d Activities: %w", len(all.Items), err)
		}
		a := all.Items[0]
		if a.Status.Prosta != state || a.Status.Run != run || a.Status.ObservedGeneration != a.Generation {
			return fmt.Errorf("the status is %+v", a.Status)
		}
		return nil
	}
}

// commandSucceeded checks that a ready Activity is truly ready: a pod of its run ended with the reported result.
func commandSucceeded(v faults.View, object client.Object) error {
	a, pods := object.(*egov1.Activity), &corev1.PodList{}
	if err := v.List(pods); err != nil {
		return err
	}
	if !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == a.Status.Pod && p.Status.Phase == corev1.PodSucceeded }) {
		return fmt.Errorf("no pod %s has succeeded", a.Status.Pod)
	}
	return nil
}

// onePodARun holds if no two pods ever have the same name. The name of a pod identifies one run of an Activity, so a
// second pod with this name would execute the command of the run twice.
func onePodARun(before, after faults.View, e faults.Event) error {
	if e.Key.Kind != "Pod" || e.Gone {
		return nil
	}
	for _, a := range after.Objects("Activity") {
		had, _, _ := unstructured.NestedString(a.Object, "status", "podUID")
		pod, _, _ := unstructured.NestedString(a.Object, "status", "pod")
		if pod == e.Key.Name && had != "" && had != string(e.Object.GetUID()) {
			return fmt.Errorf("pod %s was created again", pod)
		}
	}
	return nil
}

// endsStay holds if a run that was reported as ended never changes its result.
func endsStay(before, after faults.View, e faults.Event) error {
	ends := []string{"Succeeded", "Failed", "Cancelled", "Unknown"}
	for _, was := range before.Objects("Activity") {
		for _, is := range after.Objects("Activity") {
			old, run := endOf(was)
			now, again := endOf(is)
			if was.GetUID() == is.GetUID() && run == again && old != now && slices.Contains(ends, old) {
				return fmt.Errorf("run %d was reported as %s and is now reported as %s", run, old, now)
			}
		}
	}
	return nil
}

func endOf(a *unstructured.Unstructured) (state string, run int64) {
	state, _, _ = unstructured.NestedString(a.Object, "status", "prosta")
	run, _, _ = unstructured.NestedInt64(a.Object, "status", "run")
	return state, run
}

// maskActivity removes fields that differ between runs, such as times. It removes the spec and the status of pods,
// because the scheduler and the simulated kubelet set fields in them.
func maskActivity(object *unstructured.Unstructured) {
	switch object.GetKind() {
	case "Pod":
		unstructured.RemoveNestedField(object.Object, "spec")
		unstructured.RemoveNestedField(object.Object, "status")
		// This annotation contains the instructions for the pod, with the time at which the Activity was created.
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "opcrew.io/order")
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "opcrew.io/boot")
	case "Activity":
		unstructured.RemoveNestedField(object.Object, "status", "runSince")
		unstructured.RemoveNestedField(object.Object, "status", "endedAt")
		// An operator that sees only the last state of the Activity cancels the run before a pod has started. The
		// status of a cancelled run therefore differs between runs of the test.
		if status, ok := object.Object["status"].(map[string]any); ok && status["prosta"] == "Cancelled" {
			object.Object["status"] = map[string]any{"prosta": "Cancelled", "run": status["run"]}
		}
	}
}
