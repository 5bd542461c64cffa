// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import "github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"

// Verdict is what a rule decides. The zero Verdict leaves the decision to the next rule.
type Verdict struct {
	// Step is the next change in etcd; nil if there is none.
	Step *Step
	// Recreate names the member whose pod is recreated.
	Recreate string
	// Change is the member whose pod changes in place to Version.
	Change  *model.Member
	Version string
	// Resize is the member whose pod is resized while it runs.
	Resize *model.Member
	// Waits says what the next change waits for, as text for the status.
	Waits string
	// Halt is true if nothing may change now, for a reason that the status need not report.
	Halt bool
}

// First evaluates rules in order and returns the first verdict that is not zero.
func First[I any](in *I, rules ...func(*I) Verdict) Verdict {
	for _, rule := range rules {
		if verdict := rule(in); verdict != (Verdict{}) {
			return verdict
		}
	}
	return Verdict{}
}
