// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// annotationPauses is how messages call a pause by annotation.
const annotationPauses = "annotation " + common.PausedAnnotation

// ReportChildren sets the condition that reports whether the children are as declared,
// from what became of them. The first thing that is in the way is told.
func ReportChildren(set condition.Set, kind string, done Outcome) {
	switch {
	case done.Err == nil && done.Held == 0 && len(done.Results) == 0: // none are declared, as at deletion
	case done.Err != nil && ensure.Refused(done.Err):
		set.False(kind, common.ReasonRefused, done.Err.Error())
	case done.Err != nil:
		set.Unknown(kind, common.ReasonApplying, done.Err.Error())
	case done.Held > 0:
		set.False(kind, common.ReasonPaused, "Changes of children are held back by "+cmp.Or(done.PausedBy, annotationPauses))
	case !done.settled():
		reportUnsettled(set, kind, done)
	default:
		reportResults(set, kind, done)
	}
}

// settled reports whether every child was looked at and brought to what is declared.
func (o Outcome) settled() bool {
	_, waiting := o.First(ensure.Waiting, "")
	return !waiting && !o.retry
}

// reportUnsettled keeps what was said before, if it was said of this generation: the
// view was old, or a conflict came between, and the next look will tell. What was said
// of an earlier generation may not pass for this one.
func reportUnsettled(set condition.Set, kind string, done Outcome) {
	if waiting, ok := done.First(ensure.Waiting); ok && waiting.Message != "" {
		set.False(kind, common.ReasonApplying, waiting.Message)
		return
	}
	if c := meta.FindStatusCondition(*set.Conditions, kind); c == nil || c.ObservedGeneration < set.Generation {
		set.False(kind, common.ReasonApplying, "Changes of children are on their way")
	}
}

func reportResults(set condition.Set, kind string, done Outcome) {
	if taken, ok := done.First(ensure.Taken); ok {
		set.False(kind, common.ReasonNameTaken, taken.Message)
		return
	}
	if contested, ok := done.First(ensure.Contested); ok {
		set.False(kind, common.ReasonContested, contested.Message)
		return
	}
	if delayed, ok := done.First(ensure.Delayed); ok {
		set.False(kind, common.ReasonApplying, delayed.Message)
		return
	}
	if done.Contested != "" { // what is patched, such as a pod or a claim
		set.False(kind, common.ReasonContested, done.Contested)
		return
	}
	if replaced, ok := done.First(ensure.Replaced); ok {
		set.False(kind, common.ReasonApplying, replaced.Ref.String()+" is being replaced")
		return
	}
	set.True(kind, common.ReasonAsDeclared, "Every child is as declared")
}
