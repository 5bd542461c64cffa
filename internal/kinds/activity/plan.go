// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kinds/activity/runpod"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

const (
	// hostInterval is the time between two checks of the host while a deleted Activity waits for the end of its pod.
	hostInterval = 5 * time.Second
)

// Decide determines the state of the current run of an Activity.
func (r *reconciler) Decide(a *egov1.Activity, f facts, now time.Time) decision {
	d := decision{now: now}
	if fleet.Is(a) {
		d.fleet = fleet.Decide(fleetInput(a, f.fleet, now))
		return d
	}
	if a.DeletionTimestamp == nil && !run.Scheduled(a) && a.Status.Run == run.Number(a) && (!run.Over(a) || run.Corrects(a, f.pod)) {
		d.verdict = run.Judge(a, f.observed(), now)
	}
	return d
}

// Plan returns what to do in the current state of an Activity.
func (r *reconciler) Plan(a *egov1.Activity, f facts, d decision) kit.Plan {
	switch {
	case a.DeletionTimestamp != nil && fleet.Is(a):
		return fleets{r}.leave(a, f.fleet)
	case a.DeletionTimestamp != nil:
		return r.leave(f)
	case fleet.Is(a):
		return fleets{r}.plan(a, f.fleet, d)
	case run.Scheduled(a):
		return r.keepSchedule(a, f.children, f.agenda, d.now)
	case a.Status.Run != run.Number(a):
		return kit.Plan{Finalizer: run.Finalizer} // the status must record a run before opcrew creates its pod
	case run.Over(a) && !run.Corrects(a, f.pod):
		return r.rest(a, f, d.now)
	}
	v := d.verdict
	plan := kit.Plan{Finalizer: run.Finalizer, Again: v.Again}
	switch {
	case v.State == egov1.StatePending && f.begin != nil && f.begin.Obstacle == nil:
		plan.Children = begin(a, f.begin, f.hasValues(a), f.agentImage)
	case v.Withdraw && f.pod.DeletionTimestamp == nil:
		plan.Step = r.delete("delete the pod of a run that cannot start or was cancelled", f.pod)
	}
	return plan
}

// begin declares the Secret with the values of Secrets of users and, once it exists, the pod. The pod would not start
// without the Secret.
func begin(a *egov1.Activity, start *run.Start, hasValues bool, image string) []ensure.Child {
	if needsValues(a) && !hasValues {
		return []ensure.Child{{Object: runpod.Values(a, start.Values)}}
	}
	// permit has already checked the rights of the requester.
	child := ensure.Child{Object: runpod.Pod(a, start, image), Once: true, Security: guard.HostCommand, Trust: guard.Trust{All: true}}
	if run.OverSSH(a) {
		child.Object, child.Security = runpod.OverSSH(a, start, image), guard.Restricted
	}
	return []ensure.Child{child}
}

// rest cleans up after a finished run of an Activity. It removes the finalizer of opcrew from the pods that have ended,
// and deletes the Secret with the values of spec.secretEnvs and the pods of earlier runs.
func (r *reconciler) rest(a *egov1.Activity, f facts, now time.Time) kit.Plan {
	plan := kit.Plan{Finalizer: run.Finalizer}
	for _, pod := range f.pods() {
		if run.Ended(&pod) && slices.Contains(pod.Finalizers, run.ResultFinalizer) {
			plan.Patches = append(plan.Patches, release(&pod))
		}
	}
	switch left := lifetime(a, now); {
	case f.pod != nil && !run.Ended(f.pod) && f.pod.DeletionTimestamp == nil:
		plan.Step = r.delete("delete the pod of a run that cannot start or was cancelled", f.pod) // opcrew gave up on this run, but its pod still exists
	case len(f.secrets) > 0:
		plan.Step = r.delete("delete the Secret with the values of Secrets", &f.secrets[0])
	case len(f.former) > 0 && f.former[0].DeletionTimestamp == nil:
		plan.Step = r.delete("delete the pod of an earlier run", &f.former[0])
	case left == 0:
		plan.Step = r.delete("delete the Activity after ttlSecondsAfterFinished", a)
	case left > 0:
		plan.Again = left
	}
	return plan
}

// lifetime returns how much longer a finished Activity is kept; negative if it is kept forever.
func lifetime(a *egov1.Activity, now time.Time) time.Duration {
	if a.Spec.TTLSecondsAfterFinished == nil || a.Status.EndedAt == nil {
		return -1
	}
	return max(0, a.Status.EndedAt.Add(run.Seconds(*a.Spec.TTLSecondsAfterFinished)).Sub(now))
}

// leave deletes the pods of a deleted Activity. It removes the finalizer of the Activity when the pods have ended, or
// if the host does not respond, because a dead host must not block the deletion. The fleet of the Activity must record
// the deletion first, so that it does not run the command on the host again.
func (r *reconciler) leave(f facts) kit.Plan {
	plan := kit.Plan{}
	waits := false
	for _, pod := range f.pods() {
		given := run.Ended(&pod) || !f.hostAnswers
		waits = waits || !given
		if given && slices.Contains(pod.Finalizers, run.ResultFinalizer) {
			plan.Patches = append(plan.Patches, release(&pod))
		}
	}
	for _, pod := range f.pods() {
		if pod.DeletionTimestamp == nil {
			plan.Step = r.delete("delete the pod", &pod)
			return plan
		}
	}
	switch {
	case len(f.secrets) > 0:
		plan.Step = r.delete("delete the Secret with the values of Secrets", &f.secrets[0])
		plan.Again = hostInterval
	case waits || f.unrecorded:
		plan.Again = hostInterval
	default:
		plan.Release = run.Finalizer
	}
	return plan
}

// delete returns a step that deletes exactly the object that was read, not a new one with the same name. An Activity is
// only deleted if it has not changed since, because a user may have requested a new run.
func (r *reconciler) delete(name string, object client.Object) *kit.Step {
	uid, version := object.GetUID(), object.GetResourceVersion()
	only := client.Preconditions{UID: &uid}
	if _, ok := object.(*egov1.Activity); ok {
		only.ResourceVersion = &version
	}
	return &kit.Step{Name: name, Do: func(ctx context.Context) error {
		return client.IgnoreNotFound(r.Client.Delete(ctx, object, only, client.PropagationPolicy("Background")))
	}}
}

// release returns the patch that removes the finalizer of opcrew from a pod, after its result was recorded or if there
// will be no result.
func release(pod *corev1.Pod) kit.Patch {
	path := fmt.Sprintf("/metadata/finalizers/%d", slices.Index(pod.Finalizers, run.ResultFinalizer))
	ops := jsonpatch.Patch{jsonpatch.Test("/metadata/uid", pod.UID), jsonpatch.Test(path, run.ResultFinalizer), jsonpatch.Remove(path)}
	return kit.Patch{Object: pod, Type: types.JSONPatchType, Data: ops.Encode(), Intent: "release"}
}
