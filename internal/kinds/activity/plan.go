// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

const (
	// obstacleInterval passes between two looks at what keeps a run from beginning.
	obstacleInterval = 10 * time.Second
	// hostInterval passes between two looks at a host whose pod has to end.
	hostInterval = 5 * time.Second
)

// Plan says what follows from what is known of a run.
func (r *reconciler) Plan(a *egov1.Activity, f facts, now time.Time) kit.Plan {
	switch {
	case a.DeletionTimestamp != nil:
		return r.leave(a, f)
	case scheduled(a):
		return r.keepSchedule(a, f, now)
	case a.Status.Run != run(a):
		return kit.Plan{Finalizer: finalizer} // the status says so first: what is not written down does not begin
	case over(a) && !corrects(a, f):
		return r.rest(a, f, now)
	}
	v := judge(a, f, now)
	plan := kit.Plan{Finalizer: finalizer, Again: v.again}
	switch {
	case v.state == egov1.StatePending && f.begin != nil && f.begin.obstacle == nil:
		plan.Children = r.begin(a, f)
	case v.withdraw && f.pod.DeletionTimestamp == nil:
		plan.Step = r.delete("withdraw the pod", f.pod)
	}
	return plan
}

// begin declares the values of secretEnvs, and the pod when they are there: it would hang
// without them.
func (r *reconciler) begin(a *egov1.Activity, f facts) []ensure.Child {
	if len(a.Spec.SecretEnvs) > 0 && !f.hasValues(a) {
		return []ensure.Child{{Object: values(a, f.begin.values)}}
	}
	return []ensure.Child{{Object: pod(a, f), Once: true}}
}

// rest is what is left to do when a run is over: its pod may go, values of Secrets must, and
// pods of earlier runs are of no use any more.
func (r *reconciler) rest(a *egov1.Activity, f facts, now time.Time) kit.Plan {
	plan := kit.Plan{Finalizer: finalizer}
	for _, pod := range f.pods() {
		if ended(&pod) && slices.Contains(pod.Finalizers, resultFinalizer) {
			plan.Patches = append(plan.Patches, release(&pod))
		}
	}
	switch left := lifetime(a, now); {
	case f.pod != nil && !ended(f.pod) && f.pod.DeletionTimestamp == nil:
		plan.Step = r.delete("withdraw the pod", f.pod) // given up, and not heard of it yet
	case len(f.secrets) > 0:
		plan.Step = r.delete("remove the values of secretEnvs", &f.secrets[0])
	case len(f.former) > 0 && f.former[0].DeletionTimestamp == nil:
		plan.Step = r.delete("remove the pod of an earlier run", &f.former[0])
	case left == 0:
		plan.Step = r.delete("remove the Activity, whose time is up", a)
	case left > 0:
		plan.Again = left
	}
	return plan
}

// lifetime is how long an Activity that has ended still stays; less than 0 for ever.
func lifetime(a *egov1.Activity, now time.Time) time.Duration {
	if a.Spec.TTLSecondsAfterFinished == nil || a.Status.EndedAt == nil {
		return -1
	}
	return max(0, a.Status.EndedAt.Add(seconds(*a.Spec.TTLSecondsAfterFinished)).Sub(now))
}

// pods are all that were made for an Activity.
func (f facts) pods() []corev1.Pod {
	if f.pod == nil {
		return f.former
	}
	return append([]corev1.Pod{*f.pod}, f.former...)
}

// leave ends what runs, and lets the Activity go when it has, or when the host does not
// answer: a dead host never holds up a deletion.
func (r *reconciler) leave(_ *egov1.Activity, f facts) kit.Plan {
	plan := kit.Plan{}
	waits := false
	for _, pod := range f.pods() {
		given := ended(&pod) || !f.hostAnswers
		waits = waits || !given
		if given && slices.Contains(pod.Finalizers, resultFinalizer) {
			plan.Patches = append(plan.Patches, release(&pod))
		}
	}
	for _, pod := range f.pods() {
		if pod.DeletionTimestamp == nil {
			plan.Step = r.delete("remove the pod", &pod)
			return plan
		}
	}
	switch {
	case len(f.secrets) > 0:
		plan.Step = r.delete("remove the values of secretEnvs", &f.secrets[0])
		plan.Again = hostInterval
	case waits:
		plan.Again = hostInterval
	default:
		plan.Release = finalizer
	}
	return plan
}

// delete removes an object as it was seen, and none that has its name by now; an Activity only
// as it is: another run may just have been asked for.
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

// release takes our finalizer off a pod whose result is read, or will not come.
func release(pod *corev1.Pod) kit.Patch {
	i := slices.Index(pod.Finalizers, resultFinalizer)
	data, _ := json.Marshal([]map[string]any{ // text and numbers can be encoded
		{"op": "test", "path": "/metadata/uid", "value": pod.UID},
		{"op": "test", "path": fmt.Sprintf("/metadata/finalizers/%d", i), "value": resultFinalizer},
		{"op": "remove", "path": fmt.Sprintf("/metadata/finalizers/%d", i)},
	})
	return kit.Patch{Object: pod, Type: types.JSONPatchType, Data: data, Intent: "release"}
}
