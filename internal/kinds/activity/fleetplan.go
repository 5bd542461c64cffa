// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// staleInterval is the time until a fleet is checked again if the cache had an older version of it, or of a node that it
// must uncordon. Normally an event comes earlier.
const staleInterval = time.Second

// plan returns the plan for a fleet. Another kind may have written a node that the cache does not show yet; the watch
// ignores such a change, so the fleet looks again by itself.
func (r fleets) plan(a *egov1.Activity, f fleetFacts, d decision) kit.Plan {
	plan := r.steps(a, f, d)
	if len(f.unseen) > 0 {
		plan.LookAgain(staleInterval)
	}
	return plan
}

// steps returns the changes for a fleet: create the Activities of the hosts that the status records as starting, cancel
// active ones, and delete what is no longer needed.
func (r fleets) steps(a *egov1.Activity, f fleetFacts, d decision) kit.Plan {
	if a.Status.Run != run.Number(a) {
		return kit.Plan{} // the status must record the run first
	}
	if run.Over(a) {
		plan := r.rest(a, f, d.now)
		plan.Patches = releases(a, f, fleet.Verdict{})
		return plan
	}
	v := d.fleet
	plan := kit.Plan{Again: v.Again, Patches: releases(a, f, v)}
	if a.Spec.Hosts.Drain != nil {
		plan.Finalizer = run.Finalizer
	}
	if v.Cancel {
		plan.Patches = append(plan.Patches, cancels(activeIn(f.hosts), "")...)
	}
	switch {
	case v.Create && f.fresh:
		plan.Children = starting(a, f)
		r.planDrains(a, f, d.now, &plan)
	case v.Create:
		plan.LookAgain(staleInterval)
	}
	return plan
}

// rest deletes an ended fleet after its lifetime, and Activities of runs whose successes no longer count.
func (r fleets) rest(a *egov1.Activity, f fleetFacts, now time.Time) kit.Plan {
	plan := kit.Plan{}
	for _, child := range f.children {
		if number, ok := fleet.RunOf(a.Name, child); ok && number < fleet.Since(a) && child.DeletionTimestamp == nil {
			plan.Step = r.delete("delete the Activity of an earlier run", child.DeepCopy())
			return plan
		}
	}
	switch left := lifetime(a, now); {
	case left == 0:
		plan.Step = r.delete("delete the Activity after ttlSecondsAfterFinished", a)
	case left > 0:
		plan.Again = left
	}
	return plan
}

// activeIn returns copies of the Activities that have not ended.
func activeIn(hosts []fleet.Host) runs {
	var out runs
	for _, h := range hosts {
		if h.Child != nil && !run.Over(h.Child) && h.Child.DeletionTimestamp == nil {
			out = append(out, *h.Child.DeepCopy())
		}
	}
	return out
}

// starting declares the Activities of the hosts that start next.
func starting(a *egov1.Activity, f fleetFacts) []ensure.Child {
	var out []ensure.Child
	for _, h := range f.hosts {
		if f.begins(a, h) {
			out = append(out, ensure.Child{Object: single(a, h.Name)})
		}
	}
	return out
}

// single declares the Activity that runs the command of a fleet on one host. It has the same requester as the fleet. It
// has its finalizer from the beginning, so that it cannot disappear before the fleet has seen it.
func single(a *egov1.Activity, host string) runtime.ApplyConfiguration {
	spec := a.Spec.DeepCopy()
	spec.Host, spec.Hosts, spec.Cancel, spec.Run, spec.TTLSecondsAfterFinished = host, nil, false, nil, nil
	spec.SSH = fleet.SSHOf(a, host)
	made := &egov1.Activity{Spec: *spec}
	made.Name = fleet.ChildName(a.Name, run.Number(a), host)
	made.Labels = map[string]string{fleet.Label: a.Name}
	made.Finalizers = []string{run.Finalizer}
	return declared(a.Namespace, made)
}

// declared returns an Activity as an object to apply.
func declared(namespace string, made *egov1.Activity) runtime.ApplyConfiguration {
	made.APIVersion, made.Kind = egov1.GroupVersion.String(), "Activity"
	made.Namespace = namespace
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(made)
	if err != nil {
		panic(err) // cannot fail, because an Activity can always be encoded
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
}

// starts reports whether a status records hosts that start next. They start only after this record is written.
func starts(before, after *egov1.Activity) bool {
	if after.Status.Fleet == nil || len(after.Status.Fleet.Starting) == 0 {
		return false
	}
	return before.Status.Fleet == nil || !slices.Equal(before.Status.Fleet.Starting, after.Status.Fleet.Starting)
}
