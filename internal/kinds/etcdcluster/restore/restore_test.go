// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Reported by a user: when an old backup was restored a second time, revisions started at the same number as the first
// time.
func TestARestoreStartsAboveAllRevisionsThatAreKnown(t *testing.T) {
	for name, test := range map[string]struct {
		before *etcdv1beta2.RestoreProgress
		says   int64 // the revision that a member reports
		want   int64
	}{
		"what a member says":              {nil, 70, 70},
		"what an earlier one began at":    {&etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseRestored, Revision: 1_000_000_006}, 70, 1_000_000_006},
		"what was written since":          {&etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseRestored, Revision: 1_000_000_006}, 1_000_000_070, 1_000_000_070},
		"what one that was called off is": {&etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseAbandoned, Above: 1_000_000_070}, 0, 1_000_000_070},
	} {
		in := &Input{View: etcd.View{Status: map[uint64]etcd.MemberStatus{1: {}, 2: {Revision: test.says}, 3: {}}}}
		if got := in.seenRevision(test.before); got != test.want {
			t.Errorf("%s: expected %d, got %d", name, test.want, got)
		}
	}
}
