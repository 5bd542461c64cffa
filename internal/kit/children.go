// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// ReportChildren sets the condition that tells whether the children are as declared,
// from what became of them. The first thing that is in the way is told.
func ReportChildren(set condition.Set, kind string, done Outcome) {
	switch {
	case done.Err != nil && ensure.Refused(done.Err):
		set.False(kind, common.ReasonRefused, done.Err.Error())
	case done.Err != nil:
		set.Unknown(kind, common.ReasonApplying, done.Err.Error())
	case done.Held > 0:
		set.False(kind, common.ReasonPaused, "Changes of children are held back")
	default:
		reportResults(set, kind, done)
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
	if replaced, ok := done.First(ensure.Replaced); ok {
		set.False(kind, common.ReasonApplying, replaced.Ref.String()+" is being replaced")
		return
	}
	set.True(kind, common.ReasonAsDeclared, "Every child is as declared")
}
