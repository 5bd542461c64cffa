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

// Answer is the response of a member to a status query.
type Answer struct {
	Endpoint  string
	Version   string
	ClusterID uint64
	// Revision is the newest revision of the member. Applied is the index of the last log entry that it has applied.
	Revision        int64
	Applied         uint64
	Leader, Learner bool
	// Led is true if the member has a leader. Without a leader, its data may be outdated.
	Led bool
	// Corrupt is true if etcd found that the data of this member differs from the data of its cluster.
	Corrupt bool
	// Err is why the member did not respond. If it is set, the other fields are unknown.
	Err error
}

// Choose returns the members from which a snapshot can be read, the best first. The member with the newest revision is
// best, because a member that is cut off from its cluster may also respond. Among members with the same revision,
// learners come last. The leader comes after the other voting members, because it has the most work.
func Choose(answers []Answer) ([]Answer, error) {
	var able, unable []Answer
	for _, a := range answers {
		switch {
		case a.Err != nil:
			unable = append(unable, a)
		case a.Corrupt:
			a.Err = errors.New("etcd has found the data of this member corrupt")
			unable = append(unable, a)
		default:
			able = append(able, a)
		}
	}
	if len(able) == 0 {
		return nil, backup.Fail(reasonOf(unable), "no etcd member can send a snapshot: %s", causes(unable))
	}
	for _, a := range able {
		if a.ClusterID != able[0].ClusterID {
			return nil, backup.Fail(backup.ReasonEtcdRefused, "the endpoints belong to different clusters: %s belongs to %x, and %s to %x",
				able[0].Endpoint, able[0].ClusterID, a.Endpoint, a.ClusterID)
		}
	}
	slices.SortStableFunc(able, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), second(a.Learner, b.Learner), second(a.Leader, b.Leader))
	})
	return able, nil
}

// errUnled is the reason not to read a member without a leader.
var errUnled = errors.New("the member has no leader, so its data may be outdated")

// OnlyLed excludes members without a leader: it gives each of them an error, so that no snapshot is read from them.
func OnlyLed(answers []Answer) []Answer {
	out := slices.Clone(answers)
	for i, a := range out {
		if a.Err == nil && !a.Led {
			out[i].Err = errUnled
		}
	}
	return out
}

// reasonOf returns the reason why no member of the cluster can be read.
func reasonOf(unable []Answer) backup.Reason {
	if slices.ContainsFunc(unable, func(a Answer) bool { return errors.Is(a.Err, errUnled) }) {
		return backup.ReasonNoLeader
	}
	return backup.ReasonEtcdUnreachable
}

// second compares two elements by whether they have a property, for sorting. An element with the property comes after
// one without it.
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
