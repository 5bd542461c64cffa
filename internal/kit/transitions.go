// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// transition is a change of a condition's status or reason. was is nil if the condition is new.
type transition struct {
	was *metav1.Condition
	is  metav1.Condition
}

// transitions returns the conditions that differ between two versions of an object.
func transitions(before, after client.Object) []transition {
	old, ok := before.(hasConditions)
	if !ok {
		return nil
	}
	var out []transition
	for _, is := range *after.(hasConditions).StatusConditions() {
		was := meta.FindStatusCondition(*old.StatusConditions(), is.Type)
		if was == nil || was.Status != is.Status || was.Reason != is.Reason {
			out = append(out, transition{was, is})
		}
	}
	return out
}

// ready returns the condition Ready of an object; nil if there is none.
func ready(object client.Object) *metav1.Condition {
	c, ok := object.(hasConditions)
	if !ok {
		return nil
	}
	return meta.FindStatusCondition(*c.StatusConditions(), readyType)
}

// readyChanged reports whether the status, reason or observed generation of Ready has changed. A message can differ in
// every reconcile, for example because it contains a request ID, so it does not count as a change.
func readyChanged(before, after client.Object) bool {
	was, is := ready(before), ready(after)
	return is != nil && (was == nil || was.Status != is.Status || was.Reason != is.Reason || was.ObservedGeneration != is.ObservedGeneration)
}

// isPending reports whether opcrew has not yet reported on Ready.
func isPending(object client.Object) bool {
	c := ready(object)
	return c == nil || c.Reason == common.ReasonPending
}

func isReady(object client.Object) bool {
	c := ready(object)
	return c != nil && c.Status == metav1.ConditionTrue
}

// isProgress reports whether the object is still becoming Ready in both versions, for the same generation.
func isProgress(before, after client.Object) bool {
	was, is := ready(before), ready(after)
	return was != nil && is != nil && was.Status == is.Status && common.OnItsWay(was.Reason) && common.OnItsWay(is.Reason) &&
		was.ObservedGeneration == is.ObservedGeneration
}

// isGone reports whether the object was deleted with the removal of its last finalizer, so that it has no status to
// write.
func isGone(object client.Object) bool {
	return object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0
}

// keepTimes restores the transition times of conditions whose status has not changed. A report may set a condition
// twice, first from the facts and then for a pause. Without keepTimes, this would change the time in every report.
func keepTimes(before, after client.Object) {
	old, ok := before.(hasConditions)
	if !ok {
		return
	}
	list := *after.(hasConditions).StatusConditions()
	for i := range list {
		was := meta.FindStatusCondition(*old.StatusConditions(), list[i].Type)
		if was != nil && was.Status == list[i].Status && was.LastTransitionTime.Unix() > 0 { // a condition from CRD defaults has no time
			list[i].LastTransitionTime = was.LastTransitionTime
		}
	}
}

// note formats a condition as the note of an event, which is limited to 1 KiB.
func note(c metav1.Condition) string {
	return condition.Cut(fmt.Sprintf("%s is %s: %s", c.Type, c.Status, c.Message), 1000)
}
