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

// annotationPauses is how messages name a pause by annotation.
const annotationPauses = "annotation " + common.PausedAnnotation

// ReportChildren sets the condition of a kind that reports whether the children are as declared. If several things are
// in the way, it reports the first.
func (o Outcome) ReportChildren(set condition.Set, kind string) {
	switch {
	case o.Err == nil && o.Held == 0 && len(o.Results) == 0: // none are declared, as when the object is being deleted
	case o.Err != nil && ensure.Refused(o.Err):
		set.False(kind, common.ReasonRefused, o.Err.Error())
	case o.Err != nil:
		set.Unknown(kind, common.ReasonApplying, o.Err.Error())
	case o.Held > 0:
		set.False(kind, common.ReasonPaused, "Changes of children are held back by "+cmp.Or(o.PausedBy, annotationPauses))
	case !o.settled():
		o.reportUnsettled(set, kind)
	default:
		o.reportResults(set, kind)
	}
}

// reportUnsettled keeps the condition if it is of this generation, because the cache was stale or a conflict occurred,
// and the next reconcile will report.
func (o Outcome) reportUnsettled(set condition.Set, kind string) {
	if waiting, ok := o.First(ensure.Waiting); ok && waiting.Message != "" {
		set.False(kind, common.ReasonApplying, waiting.Message)
		return
	}
	if c := meta.FindStatusCondition(*set.Conditions, kind); c == nil || c.ObservedGeneration < set.Generation {
		set.False(kind, common.ReasonApplying, "Changes of children are on their way")
	}
}

func (o Outcome) reportResults(set condition.Set, kind string) {
	if denied, ok := o.First(ensure.Denied); ok {
		set.False(kind, denied.Reason, denied.Message)
		return
	}
	for _, obstacle := range []struct {
		action ensure.Action
		reason string
	}{
		{ensure.Taken, common.ReasonNameTaken},
		{ensure.Contested, common.ReasonContested},
		{ensure.Delayed, common.ReasonApplying},
	} {
		if result, ok := o.First(obstacle.action); ok {
			set.False(kind, obstacle.reason, result.Message)
			return
		}
	}
	if o.Contested != "" { // a contest over a patched object, such as a pod or a claim
		set.False(kind, common.ReasonContested, o.Contested)
		return
	}
	if replaced, ok := o.First(ensure.Replaced); ok {
		set.False(kind, common.ReasonApplying, replaced.Ref.String()+" is being replaced")
		return
	}
	set.True(kind, common.ReasonAsDeclared, "Every child is as declared")
}
