// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// accused makes etcd raise the alarm CORRUPT for a member.
func (w world) accused(serial int64) world { return w.alarmed(etcd.AlarmCorrupt, w.id(serial)) }

// compared records an earlier comparison of the members' data, with a hash per member; 0 stands for a member that did
// not answer.
func (w world) compared(ago time.Duration, data ...uint32) world {
	out := &steps.Comparison{At: clustertest.Noon.Add(-ago), Sums: map[uint64]etcd.Hash{}, Failed: map[uint64]string{}}
	for serial, sum := range data {
		if sum == 0 {
			out.Failed[w.id(int64(serial))] = "connection refused"
			continue
		}
		out.Sums[w.id(int64(serial))] = etcd.Hash{Sum: sum, Revision: 9}
	}
	w.history.Compared = out
	return w
}

func TestOnlyAMemberThatDiffersFromTheMajorityIsTakenForCorrupt(t *testing.T) {
	of := func(n int64) world { return observed(clustertest.New(clustertest.Sized(int32(n))), n) }
	n := func(serial int64) string { return model.MemberName(clustertest.New(), serial) }
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"they were not compared":             {of(3).accused(1), "compare the members"},
		"it is being done":                   {working(of(3).accused(1), "comparison of the members"), "wait for the comparison of the members"},
		"the accused differs":                {of(3).accused(1).compared(0, 7, 8, 7), "remove member " + n(1)},
		"the leader differs":                 {of(3).accused(1).compared(0, 8, 7, 7), "move the leadership to " + n(2)},
		"it has handed over":                 {leads(of(3).accused(1).compared(0, 8, 7, 7), 2), "remove member " + n(0)},
		"two of five differ":                 {of(5).accused(1).compared(0, 7, 8, 9, 7, 7), "remove member " + n(1)},
		"all are the same":                   {of(3).accused(1).compared(0, 7, 7, 7), "disarm CORRUPT"},
		"all are, and the accused is out":    {of(2).asks(clustertest.Sized(3)).alarmed(etcd.AlarmCorrupt, 0x999).compared(0, 7, 7), "disarm CORRUPT"},
		"no majority":                        {of(3).accused(1).compared(0, 7, 8, 9), "wait for a user to decide which member's data is right: no majority of the 3 voters has the same data"},
		"two of two":                         {of(2).accused(1).compared(0, 7, 8), "wait for a user to decide which member's data is right: no majority of the 2 voters has the same data"},
		"the cluster as a whole":             {of(3).alarmed(etcd.AlarmCorrupt, 0).compared(0, 7, 8, 9), "wait for a user to decide which member's data is right: no majority of the 3 voters has the same data"},
		"one alone":                          {of(1).accused(0).compared(0, 7), "wait for a user to decide which member's data is right: the single voter has no other member to compare its data with"},
		"one alone, and its member is out":   {of(1).alarmed(etcd.AlarmCorrupt, 0x999), "disarm CORRUPT"},
		"one did not answer, the others do":  {of(3).accused(1).compared(0, 7, 8, 0), "wait for a user to decide which member's data is right: member 0000000000000102 could not be compared: connection refused"},
		"it is asked again":                  {of(3).accused(1).compared(time.Minute, 7, 8, 0), "compare the members"},
		"it is not needed":                   {of(5).accused(1).compared(0, 7, 8, 0, 7, 7), "remove member " + n(1)},
		"the majority is not there any more": {of(3).accused(1).compared(0, 7, 8, 7).following(2, 0), "wait for a quorum of voters with the same data, which is needed to replace " + n(1)},
		"it was long ago":                    {of(3).accused(1).compared(time.Hour, 7, 8, 7), "compare the members"},
		"another has joined since":           {of(4).accused(1).compared(0, 7, 8, 7), "compare the members"},
		"no alarm":                           {of(3).compared(0, 7, 8, 7), "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected the operator to %s, it is to %s", test.want, got)
			}
		})
	}
}

// following sets the leader that a member reports; 0 for none.
func (w world) following(serial int64, leader uint64) world {
	status := w.view.Status[w.id(serial)]
	status.Leader = leader
	w.view.Status[w.id(serial)] = status
	return w
}

func TestReadySaysWhoseDataIsCorruptAndWhatIsDone(t *testing.T) {
	n := func(serial int64) string { return model.MemberName(clustertest.New(), serial) }
	says := "False Corrupt: etcd refuses writes because it found corrupt data (alarm CORRUPT of " + n(1) + "); "
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"not compared": {observed(clustertest.New(), 3).accused(1), says + "opcrew is comparing the data of the members"},
		"one differs":  {observed(clustertest.New(), 3).accused(1).compared(0, 8, 7, 7), says + "the data of " + n(0) + " differs from the majority's data, so opcrew is replacing this member"},
		"none does":    {observed(clustertest.New(), 3).accused(1).compared(0, 7, 7, 7), says + "all voters have the same data, so opcrew is clearing the alarm"},
		"all do": {observed(clustertest.New(), 3).accused(1).compared(0, 7, 8, 9),
			says + "no majority of the 3 voters has the same data, so opcrew does nothing: restore a backup, or clear the alarm (etcdctl alarm disarm) if you know which member's data is right"},
	} {
		if got := conditionOf(reported(test.world), etcdv1beta2.EtcdClusterReady); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: expected Ready to be\n%s, it is\n%s", name, test.want, got)
		}
	}
}
