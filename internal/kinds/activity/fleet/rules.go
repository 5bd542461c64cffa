// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

// rule returns a verdict, or nil if the next rule decides.
type rule func(*Input) *Verdict

// limits are the rules that can stop a run, and starters those that start hosts, in the order in which they decide.
var limits = []rule{
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
}

var starters = []rule{
	soaking,
	waveFull,
	onlyUnavailable,
	held,
	kept,
	budgetUsed,
	next,
}

// Decide returns the verdict of the first rule that has one. The last rule always has one.
func Decide(in *Input) Verdict {
	if v := first(in, limits); v != nil {
		return *v
	}
	return in.draining(*first(in, starters))
}

func first(in *Input, rules []rule) *Verdict {
	for _, r := range rules {
		if v := r(in); v != nil {
			return v
		}
	}
	return nil
}
