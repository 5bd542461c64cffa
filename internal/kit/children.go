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

// annotationPauses names the annotation that pauses an object, for messages.
const annotationPauses = "annotation " + common.PausedAnnotation

// ReportChildren sets the condition that reports whether all children match their declarations. If several problems
// exist, it reports the first one.
func (o Outcome) ReportChildren(set condition.Set, kind string) {
	switch {
	case o.Err == nil && o.Held == 0 && len(o.Results) == 0: // the plan declares no children, as during a deletion
	case o.Err != nil && ensure.Refused(o.Err):
		set.False(kind, common.ReasonRefused, o.Err.Error())
	case o.Err != nil:
		set.Unknown(kind, common.ReasonApplying, o.Err.Error())
	case o.Held > 0:
		set.False(kind, common.ReasonPaused, "opcrew changes no child object while the object is paused by "+cmp.Or(o.PausedBy, annotationPauses))
	case !o.settled():
		o.reportUnsettled(set, kind)
	default:
		o.reportResults(set, kind)
	}
}

// reportUnsettled is called after a conflict, or while the cache is stale. If the condition describes the current
// generation, reportUnsettled leaves it unchanged, because the next reconcile will set it.
func (o Outcome) reportUnsettled(set condition.Set, kind string) {
	if waiting, ok := o.First(ensure.Waiting); ok && waiting.Message != "" {
		set.False(kind, common.ReasonApplying, waiting.Message)
		return
	}
	if c := meta.FindStatusCondition(*set.Conditions, kind); c == nil || c.ObservedGeneration < set.Generation {
		set.False(kind, common.ReasonApplying, "opcrew is still applying changes to the child objects")
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
	if o.Contested != "" { // another manager contests a patch of an existing object, such as a pod or a claim
		set.False(kind, common.ReasonContested, o.Contested)
		return
	}
	if replaced, ok := o.First(ensure.Replaced); ok {
		set.False(kind, common.ReasonApplying, replaced.Ref.String()+" is being replaced: opcrew deleted it, and creates it again when it is gone")
		return
	}
	set.True(kind, common.ReasonAsDeclared, "Every child object matches its declaration")
}
