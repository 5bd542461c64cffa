// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Answer is what a member said of itself.
type Answer struct {
	Endpoint  string
	Version   string
	ClusterID uint64
	// Revision is the newest that the member has applied, and Applied the entry of the log that made it.
	Revision        int64
	Applied         uint64
	Leader, Learner bool
	// Led is one that knows a leader. What another holds can be of any age.
	Led bool
	// Corrupt is one that etcd itself has found to hold something else than its cluster.
	Corrupt bool
	// Err says why it did not answer. Nothing else is known then.
	Err error
}

// Choose gives the members to read from, the best one first: the one that has got furthest,
// since a member that was cut off from its cluster answers as well. Of equal ones it is not the
// leader, which has other things to do, and a learner last.
func Choose(answers []Answer) ([]Answer, error) {
	var able, unable []Answer
	for _, a := range answers {
		switch {
		case a.Err != nil:
			unable = append(unable, a)
		case a.Corrupt:
			a.Err = errors.New("etcd has found its data corrupt")
			unable = append(unable, a)
		default:
			able = append(able, a)
		}
	}
	if len(able) == 0 {
		return nil, backup.Fail(reasonOf(unable), "no member of etcd can be asked for a snapshot: %s", causes(unable))
	}
	for _, a := range able {
		if a.ClusterID != able[0].ClusterID {
			return nil, backup.Fail(backup.ReasonEtcdRefused, "the endpoints are not of one cluster: %s is of %x, %s of %x",
				able[0].Endpoint, able[0].ClusterID, a.Endpoint, a.ClusterID)
		}
	}
	slices.SortStableFunc(able, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), second(a.Learner, b.Learner), second(a.Leader, b.Leader))
	})
	return able, nil
}

// errUnled is why a member is not to be read that answers.
var errUnled = errors.New("it has no leader, so what it holds may be old")

// OnlyLed takes the answers of members that are cut off for none.
func OnlyLed(answers []Answer) []Answer {
	out := slices.Clone(answers)
	for i, a := range out {
		if a.Err == nil && !a.Led {
			out[i].Err = errUnled
		}
	}
	return out
}

// reasonOf is why none can be read.
func reasonOf(unable []Answer) backup.Reason {
	if slices.ContainsFunc(unable, func(a Answer) bool { return errors.Is(a.Err, errUnled) }) {
		return backup.ReasonNoLeader
	}
	return backup.ReasonEtcdUnreachable
}

// second puts the one behind that is so.
func second(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func causes(unable []Answer) string {
	var out []string
	for _, a := range unable {
		out = append(out, fmt.Sprintf("%s: %s", a.Endpoint, a.Err))
	}
	return strings.Join(out, "; ")
}
