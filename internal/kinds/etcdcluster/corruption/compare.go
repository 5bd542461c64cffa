// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package corruption

import (
	"cmp"
	"fmt"
	"time"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// validFor is how long a comparison of the members' data is valid. If some members did not answer, it is valid only for
// undecidedFor, so that opcrew soon repeats it.
const validFor, undecidedFor = 10 * time.Minute, 30 * time.Second

// finding is the result of comparing the data of all voters.
type finding struct {
	// agree is true if there are at least two voters and all have the same data.
	agree bool
	// corrupt holds the IDs of voters whose data differs from the data of the majority.
	corrupt []uint64
	// undecided explains why the comparison gave no result, for example because no majority of the voters has the same
	// data, or because the data of a voter could not be read.
	undecided string
}

// finding returns the result of the last comparison. known is false if the comparison is outdated or does not cover all
// current voters.
func (in *Input) finding() (out finding, known bool) {
	last := in.Compared
	if last == nil || in.Now.Sub(last.At) >= validFor {
		return finding{}, false
	}
	voters := in.View.Voters()
	for _, m := range voters {
		_, summed := last.Sums[m.ID]
		if _, failed := last.Failed[m.ID]; !summed && !failed {
			return finding{}, false // this voter joined after the comparison
		}
	}
	out = examine(voters, *last)
	decided := out.agree || len(out.corrupt) > 0 || len(last.Failed) == 0
	return out, decided || in.Now.Sub(last.At) < undecidedFor
}

// examine returns which voters differ from the majority. The majority is counted over all voters, including those that
// did not answer.
func examine(voters []etcd.Member, last steps.Comparison) finding {
	if len(voters) == 1 {
		return finding{undecided: "the single voter has no other member to compare its data with"}
	}
	right, have := last.Majority(voters)
	if have < len(voters)/2+1 {
		none := fmt.Sprintf("no majority of the %d voters has the same data", len(voters))
		return finding{undecided: cmp.Or(last.Unknown(voters), none)}
	}
	out := finding{agree: have == len(voters)}
	for _, m := range voters {
		if sum, ok := last.Sums[m.ID]; ok && sum != right {
			out.corrupt = append(out.corrupt, m.ID)
		}
	}
	if !out.agree && len(out.corrupt) == 0 {
		out.undecided = last.Unknown(voters)
	}
	return out
}
