// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
	"github.com/opcrew/opcrew/test/faults"
)

// drainingOne drains the nodes of a fleet that runs on two hosts, one after the other.
var drainingOne = faults.Workload{
	Name: "draining", World: schedulable,
	Steps: []faults.Step{
		{
			Name:  "have true run on drained hosts",
			Do:    func(u *faults.User) { u.Apply(pausePod + fleetManifest("true", ", drain: {}")) },
			Until: fleetIs(egov1.StateSucceeded, 1),
		},
		{
			Name:  "wait for the last uncordon",
			Do:    func(*faults.User) {},
			Until: noFleetCordons,
		},
	},
}

// deletingDrain deletes a fleet whose command has failed on a drained host. No cordon may be left.
var deletingDrain = faults.Workload{
	Name: "deleting a drain", World: schedulable,
	Steps: []faults.Step{
		{
			Name:  "have false run on drained hosts",
			Do:    func(u *faults.User) { u.Apply(fleetManifest("false", ", drain: {}")) },
			Until: fleetIs(egov1.StateFailed, 1),
		},
		{
			Name: "delete it",
			Do: func(u *faults.User) {
				a := &egov1.Activity{}
				a.Namespace = "default"
				u.Delete("upgrade", a)
			},
			Until: noFleetCordons,
		},
	},
}

// pausePod is a pod that a drain must evict.
const pausePod = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec: {nodeName: shared-0, terminationGracePeriodSeconds: 0, containers: [{name: web, image: web}]}
---`

// schedulable applies the policies, and removes the cordons of an earlier case: all cases share the nodes.
func schedulable(w *faults.World) {
	policies(w)
	w.Await("the nodes are schedulable", func(ctx context.Context, c client.Client) error {
		list := &corev1.NodeList{}
		if err := c.List(ctx, list); err != nil {
			return err
		}
		for i := range list.Items {
			n := &list.Items[i]
			if !n.Spec.Unschedulable && n.Annotations[claims.FleetCordon] == "" {
				continue
			}
			patch := `{"metadata":{"annotations":{"` + claims.FleetCordon + `":null}},"spec":{"unschedulable":null}}`
			if err := c.Patch(ctx, n, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
				return err
			}
		}
		return nil
	})
}

// noFleetCordons holds if no node is cordoned, and none has the record of a cordon.
func noFleetCordons(v faults.View) error {
	list := &corev1.NodeList{}
	if err := v.List(list); err != nil {
		return err
	}
	for _, n := range list.Items {
		if n.Spec.Unschedulable || n.Annotations[claims.FleetCordon] != "" {
			return fmt.Errorf("node %s is cordoned: %t, by %q", n.Name, n.Spec.Unschedulable, n.Annotations[claims.FleetCordon])
		}
	}
	return nil
}

// beginsCordoned holds if a fleet that drains nodes creates an Activity only while its node has the fleet's cordon.
func beginsCordoned(before, after faults.View, e faults.Event) error {
	host, found, _ := unstructured.NestedString(e.Object.Object, "spec", "host")
	if e.Key.Kind != "Activity" || e.Gone || !found || slices.ContainsFunc(before.Objects("Activity"), func(a *unstructured.Unstructured) bool { return a.GetUID() == e.Object.GetUID() }) {
		return nil
	}
	for _, a := range after.Objects("Activity") {
		if _, drains, _ := unstructured.NestedMap(a.Object, "spec", "hosts", "drain"); !drains || !metav1.IsControlledBy(e.Object, a) {
			continue
		}
		for _, n := range after.Objects("Node") {
			cordoned, _, _ := unstructured.NestedBool(n.Object, "spec", "unschedulable")
			if n.GetName() == host && (!cordoned || !strings.Contains(n.GetAnnotations()[claims.FleetCordon], string(a.GetUID()))) {
				return fmt.Errorf("the command begins on node %s, which the fleet has not cordoned", host)
			}
		}
	}
	return nil
}
