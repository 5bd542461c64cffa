// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

const (
	mebi  = 1 << 20
	quota = 100 * mebi
)

// holding sets the size of a member's data and the part of it in use, in MiB, at revision 5000.
func (w world) holding(serial, takes, inUse int64) world {
	status := w.view.Status[w.id(serial)]
	status.DBSize, status.DBInUse, status.Quota, status.Revision = takes*mebi, inUse*mebi, quota, 5000
	w.view.Status[w.id(serial)] = status
	return w
}

// allHolding calls holding for all three members.
func allHolding(w world, takes, inUse int64) world {
	return w.holding(0, takes, inUse).holding(1, takes, inUse).holding(2, takes, inUse)
}

// alarmed makes all members list an alarm of one member.
func (w world) alarmed(kind string, member uint64) world {
	for id, status := range w.view.Status {
		status.Errors = append(status.Errors, fmt.Sprintf("memberID:%d alarm:%s", member, kind))
		w.view.Status[id] = status
	}
	return w
}

func (w world) full(serial int64) world { return w.alarmed(etcd.AlarmNoSpace, w.id(serial)) }

// compactedTo records that opcrew compacted the revision history some time ago.
func (w world) compactedTo(revision int64, ago time.Duration) world {
	w.history.Compacted, w.history.Compaction = revision, steps.Attempt{At: clustertest.Noon.Add(-ago)}
	return w
}

// defragmented records the last defragmentation of a member.
func (w world) defragmented(serial int64, last steps.Attempt) world {
	if w.history.Defragmented == nil {
		w.history.Defragmented = map[uint64]steps.Attempt{}
	}
	w.history.Defragmented[w.id(serial)] = last
	return w
}

// inVain records that members were defragmented some time ago, and that their size did not change.
func (w world) inVain(ago time.Duration, serials ...int64) world {
	for _, serial := range serials {
		status := w.view.Status[w.id(serial)]
		w = w.defragmented(serial, steps.Attempt{At: clustertest.Noon.Add(-ago), Size: status.DBSize, InUse: status.DBInUse})
	}
	return w
}

// blocked records when a member was defragmented, and how long it did not answer because of that.
func (w world) blocked(serial int64, ago, took time.Duration) world {
	w = w.inVain(ago, serial)
	last := w.history.Defragmented[w.id(serial)]
	last.Took = took
	return w.defragmented(serial, last)
}

// uncompacted records that the last compaction failed.
func uncompacted(w world) world {
	w.history.Compaction.Failed = "permission denied"
	return w
}

func working(w world, on string) world {
	w.view.Work = on
	return w
}

func TestMembersThatAreOutOfSpaceAreHealedAsEtcdsRunbookHasIt(t *testing.T) {
	begin := func(options ...clustertest.Option) world { return observed(clustertest.New(options...), 3) }
	n := func(serial int64) string { return model.MemberName(clustertest.New(), serial) }
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"history fills them":                   {allHolding(begin(), 100, 99).full(1), "compact at revision 4000"},
		"all of it is to go":                   {allHolding(begin(clustertest.Upkeep(clustertest.KeepNone)), 100, 99).full(1), "compact at revision 5000"},
		"it is free already":                   {allHolding(begin(), 100, 20).full(1), "defragment member " + n(1)},
		"it was thrown away":                   {allHolding(begin(), 100, 20).compactedTo(4000, time.Minute).full(1), "defragment member " + n(1)},
		"there are fewer revisions than stay":  {allHolding(begin(clustertest.Upkeep(clustertest.KeepMany)), 100, 85).full(1), "defragment member " + n(1)},
		"one was defragmented":                 {allHolding(begin(), 100, 20).holding(1, 20, 20).full(1), "defragment member " + n(2)},
		"the leader is the last":               {allHolding(begin(), 20, 20).holding(0, 100, 20).full(1), "move the leadership to " + n(1)},
		"it has handed over":                   {leads(allHolding(begin(), 20, 20).holding(0, 100, 20), 1).full(1), "defragment member " + n(0)},
		"one is busy":                          {working(allHolding(begin(), 100, 20).full(1), "defragmentation of x"), "wait for the defragmentation of x"},
		"all were":                             {allHolding(begin(), 20, 20).full(1), "disarm NOSPACE"},
		"they say that it is in use still":     {allHolding(begin(), 99, 98).compactedTo(4000, time.Minute).full(1), "defragment member " + n(1)},
		"and one was defragmented":             {allHolding(begin(), 99, 98).holding(1, 9, 9).compactedTo(4000, time.Minute).full(1), "defragment member " + n(2)},
		"so was the next, before that":         {allHolding(begin(), 99, 98).compactedTo(4000, time.Minute).inVain(time.Second, 1).inVain(time.Hour, 2).full(1), "defragment member " + n(2)},
		"the leader, too":                      {allHolding(begin(), 99, 98).compactedTo(4000, time.Minute).inVain(time.Second, 1, 2).full(1), "move the leadership to " + n(1)},
		"they may still be freeing":            {allHolding(begin(), 99, 20).compactedTo(4000, time.Second).full(1), "nothing"},
		"one has been blocked for long enough": {allHolding(begin(), 99, 98).compactedTo(4000, time.Minute).blocked(1, 2*time.Minute, 10*time.Second).inVain(time.Second, 0, 2).full(1), "nothing"},
		"and has served for long since":        {allHolding(begin(), 99, 98).compactedTo(4000, time.Minute).blocked(1, 4*time.Minute, 10*time.Second).inVain(time.Second, 0, 2).full(1), "defragment member " + n(1)},
		"it could not be thrown away":          {uncompacted(allHolding(begin(), 99, 98).compactedTo(4000, time.Minute)).full(1), "nothing"},
		"keys fill them":                       {allHolding(begin(), 99, 98).compactedTo(4000, time.Minute).inVain(time.Second, 0, 1, 2).full(1), "nothing"},
		"keys fill them, and a larger quota":   {allHolding(observed(clustertest.New(clustertest.WithClaims), 3), 99, 98).compactedTo(4000, time.Minute).inVain(time.Second, 0, 1, 2).full(1).asks(clustertest.WithEnv("ETCD_QUOTA_BACKEND_BYTES", "1")), "recreate " + n(1)},
		"clients have deleted keys since":      {allHolding(begin(), 99, 98).compactedTo(3900, time.Minute).full(1), "compact at revision 4000"},
		"they go on to":                        {allHolding(begin(), 99, 98).compactedTo(3900, time.Second).full(1), "nothing"},
		"one does not answer":                  {allHolding(begin(), 100, 20).full(1).down(2), "wait for " + n(2) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"the kubelets call them not ready":     {allHolding(begin(), 100, 20).unprobed(0).unprobed(1).unprobed(2).full(1), "defragment member " + n(1)},
		"nothing is to be done":                {allHolding(begin(clustertest.Upkeep(clustertest.ReportsNoSpace)), 100, 99).full(1), "nothing"},
		"its member was taken out":             {allHolding(begin(clustertest.Upkeep(clustertest.ReportsNoSpace)), 20, 20).alarmed(etcd.AlarmNoSpace, 0x999), "disarm NOSPACE"},
		"the quota is said elsewhere":          {allHolding(begin(clustertest.QuotaElsewhere), 100, 99).withoutQuota().full(1), "nothing"},
		"the quota is said in the spec":        {allHolding(begin(clustertest.WithEnv("ETCD_QUOTA_BACKEND_BYTES", "104857600")), 100, 99).withoutQuota().full(1), "compact at revision 4000"},
		"a defragmentation failed just now":    {allHolding(begin(), 20, 20).holding(1, 100, 20).defragmented(1, steps.Attempt{At: clustertest.Noon, Failed: "x"}).full(1), "nothing"},
		"and a while ago":                      {allHolding(begin(), 20, 20).holding(1, 100, 20).defragmented(1, steps.Attempt{At: clustertest.Noon.Add(-time.Hour), Failed: "x"}).full(1), "defragment member " + n(1)},
		"one gave nothing back":                {allHolding(begin(), 20, 20).holding(1, 100, 90).inVain(0, 1).compactedTo(4000, time.Minute).full(1), "nothing"},
		"and would now":                        {allHolding(begin(), 20, 20).holding(1, 100, 50).defragmented(1, steps.Attempt{At: clustertest.Noon, Size: 100 * mebi, InUse: 90 * mebi}).compactedTo(4000, time.Minute).full(1), "defragment member " + n(1)},
		"a member that is lost goes first":     {allHolding(begin(), 100, 99).full(1).without(1), "remove member " + n(1)},
		"no alarm, and no room":                {allHolding(begin(), 99, 99), "nothing"},
		"the only member cannot hand over":     {observed(clustertest.New(clustertest.Sized(1)), 1).holding(0, 100, 20).full(0), "defragment member " + n(0)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected the operator to %s, it is to %s", test.want, got)
			}
		})
	}
}

// withoutQuota makes members report no quota, as etcd before 3.6 does.
func (w world) withoutQuota() world {
	for id, status := range w.view.Status {
		status.Quota = 0
		w.view.Status[id] = status
	}
	return w
}

func TestReadySaysThatMembersAreOutOfSpaceAndWhatIsDone(t *testing.T) {
	n := model.MemberName(clustertest.New(), 1)
	out := "False NoSpace: etcd refuses writes because " + n + " is out of space (alarm NOSPACE)"
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"it is healed": {allHolding(observed(clustertest.New(), 3), 100, 99).full(1),
			out + "; opcrew is defragmenting the members; if that does not free enough space, opcrew discards the history except for the last 1000 revisions"},
		"members may still be freeing": {allHolding(observed(clustertest.New(), 3), 99, 98).compactedTo(4000, time.Second).full(1),
			out + "; opcrew is defragmenting the members"},
		"keys fill it": {allHolding(observed(clustertest.New(), 3), 99, 98).compactedTo(4000, time.Minute).inVain(time.Second, 0, 1, 2).full(1),
			out + "; no more space can be freed, and 98 MiB of 100 MiB are in use by keys and the last 1000 revisions: set ETCD_QUOTA_BACKEND_BYTES in spec.pod.etcdEnv to 128974848 or more, " +
				"or delete keys and set spec.upkeep.keepRevisions lower than 1000: deleted keys take up room as long as their revisions are kept"},
		"keys alone do": {allHolding(observed(clustertest.New(clustertest.Upkeep(clustertest.KeepNone)), 3), 99, 98).compactedTo(5000, time.Minute).inVain(time.Second, 0, 1, 2).full(1),
			out + "; no more space can be freed, and 98 MiB of 100 MiB are in use by keys: set ETCD_QUOTA_BACKEND_BYTES in spec.pod.etcdEnv to 128974848 or more, or delete keys"},
		"one has yet to be defragmented": {allHolding(observed(clustertest.New(), 3), 99, 98).compactedTo(4000, time.Minute).inVain(time.Second, 1, 2).full(1),
			out + "; opcrew is defragmenting the members"},
		"one cannot be": {allHolding(observed(clustertest.New(), 3), 99, 98).compactedTo(4000, time.Minute).inVain(time.Second, 0, 2).defragmented(1, steps.Attempt{At: clustertest.Noon, Failed: "no space left on device"}).full(1),
			out + "; the defragmentation of " + n + " has failed: no space left on device"},
		"nothing is to be done": {allHolding(observed(clustertest.New(clustertest.Upkeep(clustertest.ReportsNoSpace)), 3), 100, 99).full(1),
			out + "; compact and defragment the members and clear the alarm, or set ETCD_QUOTA_BACKEND_BYTES in spec.pod.etcdEnv"},
		"the quota is said elsewhere": {allHolding(observed(clustertest.New(clustertest.QuotaElsewhere), 3), 100, 99).withoutQuota().full(1),
			out + "; the value of ETCD_QUOTA_BACKEND_BYTES is not in the spec"},
	} {
		if got := conditionOf(reported(test.world), etcdv1beta2.EtcdClusterReady); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: expected Ready to be\n%s, it is\n%s", name, test.want, got)
		}
	}
}

func TestMembersAreDefragmentedWhereTheSpecSaysSo(t *testing.T) {
	n := func(serial int64) string { return model.MemberName(clustertest.New(), serial) }
	always, nightly, daily := clustertest.Defragments(""), clustertest.Defragments("0 3 * * *"), clustertest.Defragments("30 11 * * *") // the window of daily is open at noon, the time in these tests
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"not asked for":           {allHolding(observed(clustertest.New(), 3), 100, 1), "nothing"},
		"more than half is free":  {allHolding(observed(clustertest.New(always), 3), 100, 45), "defragment member " + n(1)},
		"less is":                 {allHolding(observed(clustertest.New(always), 3), 100, 55), "nothing"},
		"it is small":             {allHolding(observed(clustertest.New(always), 3), 60, 5), "nothing"},
		"it is not the time":      {allHolding(observed(clustertest.New(nightly), 3), 100, 1), "nothing"},
		"it was half an hour ago": {allHolding(observed(clustertest.New(daily), 3), 100, 85), "defragment member " + n(1)},
		"and little is free":      {allHolding(observed(clustertest.New(daily), 3), 100, 95), "nothing"},
		"the schedule is none":    {allHolding(observed(clustertest.New(clustertest.Defragments("now")), 3), 100, 1), "nothing"},
		"only the leader is left": {observed(clustertest.New(always), 3).holding(0, 100, 1), "move the leadership to " + n(1)},
		"one is not ready":        {allHolding(observed(clustertest.New(always), 3), 100, 1).unprobed(2), "wait for " + n(2) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"other changes go first":  {allHolding(observed(clustertest.New(always), 3), 100, 1).asks(clustertest.Versioned("3.5.36")), "change " + n(1) + " to 3.5.36"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected the operator to %s, it is to %s", test.want, got)
			}
		})
	}
}

func TestTheNextTimeOfAScheduleWakesTheLoop(t *testing.T) {
	w := observed(clustertest.New(clustertest.Defragments("0 3 * * *")), 3)
	if got := w.again(w.c, w.decide(w.c)); got != 15*time.Hour {
		t.Errorf("expected to look again at three in the morning, 15h from noon, got %s", got)
	}
}

func TestOnlyWhatPodsAreCreatedWithHasThemRecreated(t *testing.T) {
	plain := settings.Hash(clustertest.New())
	if settings.Hash(clustertest.New(clustertest.Defragments(""), clustertest.Upkeep(clustertest.ReportsNoSpace), clustertest.Upkeep(clustertest.KeepNone))) != plain {
		t.Error("expected what the operator does itself to restart no pod")
	}
	if settings.Hash(clustertest.New(clustertest.Compacts("Periodic", "1h"))) == plain {
		t.Error("expected another compaction to be rolled out")
	}
}

func TestWhatOfTheUpkeepCannotBeIsSaidAndHoldsUpNothingElse(t *testing.T) {
	for name, test := range map[string]struct {
		c    *etcdv1beta2.EtcdCluster
		want string
	}{
		"no schedule": {clustertest.New(clustertest.Defragments("now"), clustertest.Sized(5)), `False InvalidSpec: spec.upkeep.defragment.schedule "now": `},
		"no time zone, and no schedule yet": {clustertest.New(clustertest.Defragments(""), clustertest.InZone("Mars/Base"), clustertest.Sized(5)),
			`False InvalidSpec: spec.upkeep.defragment.timeZone "Mars/Base" is unknown; write a time zone such as Europe/Berlin`},
		"too old an etcd": {clustertest.New(clustertest.Compacts("Periodic", "1h"), clustertest.Versioned("3.2.32"), formedLike("3.2.32"), clustertest.Sized(5)), "False InvalidSpec: spec.upkeep: compaction and corruptionCheck need etcd 3.3 or later, but spec.version is 3.2.32"},
	} {
		w := observed(test.c, 3)
		if got := conditionOf(reported(w), etcdv1beta2.EtcdClusterUpToDate); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: expected UpToDate to be %s, got %s", name, test.want, got)
		}
		if got := w.decide(w.c).says(); got != "add member "+model.MemberName(w.c, 3) {
			t.Errorf("%s: expected it to grow all the same, got %s", name, got)
		}
	}
}

func formedLike(version string) clustertest.Option {
	return func(c *etcdv1beta2.EtcdCluster) { c.Status.CurrentVersion = version }
}
