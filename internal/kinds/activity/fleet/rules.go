// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

// rule returns a verdict, or nil if the next rule decides.
type rule func(*Input) *Verdict

// rules are all rules, in the order in which they decide.
var rules = []rule{
	cancelled,
	lost,
	badWindow,
	noHosts,
	allEnded,
	canaryFailed,
	tooManyFailed,
	obstructed,
	unapproved,
	outsideWindow,
	recorded,
	soaking,
	waveFull,
	onlyUnavailable,
	budgetUsed,
	next,
}

// Decide returns the verdict of the first rule that has one. The last rule always has one.
func Decide(in *Input) Verdict {
	for _, r := range rules[:len(rules)-1] {
		if v := r(in); v != nil {
			return *v
		}
	}
	return *rules[len(rules)-1](in)
}
