// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import "github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"

// Grow adds a member if there are too few, or adds a successor if a member must be replaced. The member to be replaced
// stays until its successor votes.
func Grow(in *Input) steps.Verdict {
	tooFew := in.count() < in.Size
	successor := in.count() == in.Size && in.Surge && in.supersedes()
	if in.KeepSize || !tooFew && !successor {
		return steps.Verdict{}
	}
	return steps.Verdict{Step: in.Add}
}
