// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// reborn returns cases in which a user deletes an object of the kind after a step and recreates it at once, while the
// operator still sees the old object. The run without faults does the same, but without delayed events.
func reborn(p plan) []Case {
	var all []Case
	for step := range len(p.work.Steps) - 1 {
		for _, object := range p.ref.own[step] {
			for _, resource := range p.orAll() {
				all = append(all, Case{
					id: fmt.Sprintf("%d-%s-%s", step, object.GetName(), resource), size: step,
					derive:  func(w Workload) Workload { return withRebirth(p, w, step, object) },
					derived: fmt.Sprintf("reborn-%d-%s", step, object.GetName()),
					arm:     func(r *run) { r.blind(step+1, resource, p.resources[0]) },
				})
			}
		}
	}
	return all
}

// blind hides the deletion of an object, and all later events of the resource, from the operator.
func (r *run) blind(step int, resource, primary string) {
	r.hooks.slack = 4 * most
	r.hooks.before = at(step, func() {
		r.journal.mark("the operator does not see deletions of %s", resource)
		if resource == primary || resource == everything {
			// Only hide the deletion: the operator must see the earlier event that sets the deletion timestamp.
			// Otherwise the operator would not remove its finalizer.
			r.wire.gate.holdFrom(resource, watch.Deleted)
		} else {
			r.wire.gate.hold(resource)
		}
	})
	r.hooks.between = at(step, func() { r.letGo(true) })
}

// withRebirth adds a step that deletes and recreates an object, after the step with index after.
func withRebirth(p plan, w Workload, after int, object *unstructured.Unstructured) Workload {
	again := declared(object)
	if !p.subject.Namespaced {
		again.SetNamespace(object.GetNamespace()) // in a namespaced kind, each run has its own namespace
	}
	steps := append([]Step(nil), w.Steps[:after+1]...)
	steps = append(steps, Step{
		Name: fmt.Sprintf("delete %s %s and make it again", object.GetKind(), object.GetName()),
		Do: func(u *User) {
			old, fresh := again.DeepCopy(), again.DeepCopy()
			u.Delete(old.GetName(), old)
			if !u.awaitGone(old, most) && u.patient != nil {
				u.patient() // the operator can remove its finalizer only after it gets the delayed events
			}
			if !u.awaitGone(old, 20*most) {
				must(fmt.Errorf("%s is still being deleted", old.GetName()))
			}
			u.Create(fresh)
		},
		Until: w.Steps[after].Until,
	})
	w.Steps = append(steps, w.Steps[after+1:]...)
	return w
}

// declared returns a copy of an object that contains only the fields that its user wrote.
func declared(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(object.GroupVersionKind())
	out.SetName(object.GetName())
	out.SetLabels(object.GetLabels())
	out.SetAnnotations(object.GetAnnotations())
	for field, value := range object.Object {
		if field != "metadata" && field != "status" {
			out.Object[field] = value
		}
	}
	return out
}
