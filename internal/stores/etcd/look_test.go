// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"maps"
	"slices"
	"testing"
)

func TestAnswersAreSortedToTheMembersThatGaveThem(t *testing.T) {
	urls := []string{"http://m1:2379", "http://m2:2379", "http://m3:2379", "http://m4:2379"}
	foreign := follows(3, 3)
	foreign.ClusterID = 8
	for name, test := range map[string]struct {
		unlisted bool
		members  []Member
		answers  map[string]MemberStatus
		healthy  []uint64
		failing  []uint64
		absent   []string
	}{
		"all are well": {
			members: []Member{voter(1), voter(2)}, answers: map[string]MemberStatus{urls[0]: follows(1, 2), urls[1]: follows(2, 2)},
			healthy: []uint64{1, 2}, absent: urls[2:],
		},
		"one does not answer": {
			members: []Member{voter(1), voter(2)}, answers: map[string]MemberStatus{urls[0]: follows(1, 2), urls[1]: {Err: errGone}},
			healthy: []uint64{1}, failing: []uint64{2}, absent: urls[2:],
		},
		"one that is not known to have started answers at a wanted endpoint": {
			members: []Member{voter(1), unstarted(4)}, answers: map[string]MemberStatus{urls[0]: follows(1, 1), urls[3]: follows(4, 1)},
			healthy: []uint64{1, 4}, absent: urls[1:3],
		},
		"a removed one still runs": {
			members: []Member{voter(1)}, answers: map[string]MemberStatus{urls[0]: follows(1, 1), urls[1]: follows(2, 2)},
			healthy: []uint64{1}, absent: urls[1:],
		},
		"another cluster's answers where one was": {
			members: []Member{voter(1), voter(3)}, answers: map[string]MemberStatus{urls[0]: follows(1, 1), urls[2]: foreign},
			healthy: []uint64{1}, failing: []uint64{3}, absent: []string{urls[1], urls[3]},
		},
		"no member could list the members, nor had before": {
			unlisted: true, answers: map[string]MemberStatus{urls[0]: follows(1, 0), urls[1]: {Err: errGone}, urls[2]: follows(3, 0)},
			absent: []string{urls[1], urls[3]},
		},
	} {
		t.Run(name, func(t *testing.T) {
			view := View{ClusterID: 7, Members: test.members}
			if test.unlisted {
				view.Err = errGone
			}
			view.fill(urls, test.answers)
			var healthy, failing []uint64
			for _, id := range slices.Sorted(maps.Keys(view.Status)) {
				if view.Status[id].Err != nil {
					failing = append(failing, id)
				} else if view.Healthy(id) {
					healthy = append(healthy, id)
				}
			}
			if !slices.Equal(healthy, test.healthy) || !slices.Equal(failing, test.failing) {
				t.Errorf("expected %v to be healthy and %v to fail, got %v and %v", test.healthy, test.failing, healthy, failing)
			}
			if !slices.Equal(view.Absent, test.absent) {
				t.Errorf("expected %v to be absent, got %v", test.absent, view.Absent)
			}
			if test.unlisted && len(view.Status) != 2 {
				t.Errorf("expected to know the two that are up, got %v", view.Status)
			}
		})
	}
}
