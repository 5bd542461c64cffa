// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

const (
	// quotaFlag is where users say how large the data of a member may get, and defaultQuota is etcd's default.
	quotaFlag    = "ETCD_QUOTA_BACKEND_BYTES"
	defaultQuota = 2 << 30
	// crowded is how much of the quota, in percent, has to be in use for history to be thrown away: below
	// that a defragmentation is enough. And so much a member takes that is worth one.
	crowded = 80
	// roomy is how much of the quota members may take when the alarm is taken back. With more it would be
	// raised again at once.
	roomy = 95
	// compactionPause passes between two compactions of a cluster whose clients delete keys.
	compactionPause = 30 * time.Second
	// settleTime is how long members may take to free what was compacted, before it is judged.
	settleTime = 10 * time.Second
	// restFactor is for how many times as long as its last defragmentation took a member serves before one
	// that it promises nothing of.
	restFactor = 20
)

// makeRoom takes the alarm NOSPACE back when there is room again, and sees to it that there is, as etcd's
// runbook has it: throw history away, defragment one member after the other, disarm.
func (f facts) makeRoom(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	alarms := f.alarms(etcd.AlarmNoSpace)
	if gone := f.ofNobody(alarms); len(gone) > 0 {
		d.step = disarm(gone, "its member was taken out")
		return true
	}
	if len(alarms) == 0 || !heals(c) || !f.quotaKnown(c) {
		return false
	}
	if revision := f.compactTo(c); revision > 0 {
		d.step = compact(revision)
		return true
	}
	if slices.ContainsFunc(d.members, func(m member) bool { return !m.well() }) {
		return false // a later rung waits for it
	}
	if f.settles() {
		return false // whoever is defragmented now may be too early
	}
	if f.defragmentNext(d, func(status etcd.MemberStatus) bool { return f.promises(c, status) || f.isDue(c, status) }) {
		return true
	}
	if f.isShort(c) {
		return false // and the spec, or a member, may be changed
	}
	d.step = disarm(alarms, "there is room again")
	return true
}

// alarms are those of a kind.
func (f facts) alarms(kind string) []etcd.Alarm {
	return slices.DeleteFunc(f.view.Alarms(), func(a etcd.Alarm) bool { return a.Kind != kind })
}

// ofNobody are alarms of members that were taken out. Etcd keeps them, and goes by them.
func (f facts) ofNobody(alarms []etcd.Alarm) []etcd.Alarm {
	return slices.DeleteFunc(slices.Clone(alarms), func(a etcd.Alarm) bool {
		_, there := f.view.Member(a.Member)
		return there || a.Member == 0
	})
}

// quota is how large the data of a member may get, in bytes: as it says itself, or as the spec does; 0 if the
// value is to be found elsewhere, and less than 0 for any size.
func (f facts) quota(c *etcdv1beta2.EtcdCluster, status etcd.MemberStatus) int64 {
	if status.Quota != 0 || c.Spec.Pod == nil {
		return cmp.Or(status.Quota, defaultQuota)
	}
	for _, env := range c.Spec.Pod.EtcdEnv {
		switch n, err := strconv.ParseInt(env.Value, 10, 64); {
		case env.Name != quotaFlag:
		case env.ValueFrom != nil:
			return 0
		case err == nil && n != 0:
			return n
		}
	}
	return defaultQuota
}

func (f facts) quotaKnown(c *etcdv1beta2.EtcdCluster) bool {
	for _, m := range f.view.Members {
		if f.quota(c, f.view.Status[m.ID]) == 0 {
			return false
		}
	}
	return true
}

// takes reports whether a size is more than so many percent of what any member may have.
func (f facts) takes(c *etcdv1beta2.EtcdCluster, size int64, percent int64) bool {
	for _, m := range f.view.Voters() {
		if quota := f.quota(c, f.view.Status[m.ID]); quota > 0 && size > quota/100*percent {
			return true
		}
	}
	return false
}

// isShort reports whether a member still takes so much that the alarm would be raised again.
func (f facts) isShort(c *etcdv1beta2.EtcdCluster) bool {
	return slices.ContainsFunc(f.view.Voters(), func(m etcd.Member) bool { return f.takes(c, f.view.Status[m.ID].DBSize, roomy) })
}

// compactTo is up to where history is to be thrown away now; 0: none is, because it is not that which
// fills the members, or because there is none but what is kept.
func (f facts) compactTo(c *etcdv1beta2.EtcdCluster) int64 {
	revision, full := int64(0), false
	for _, m := range f.view.Voters() {
		status := f.view.Status[m.ID]
		revision, full = max(revision, status.Revision), full || f.takes(c, status.DBInUse, crowded)
	}
	revision -= keepRevisions(c)
	last := f.tended.compaction
	if !full || revision <= f.tended.compacted || !last.at.IsZero() && f.now.Sub(last.at) < compactionPause {
		return 0
	}
	return revision
}

// settles reports whether the last compaction is so short ago that members may still be at it.
func (f facts) settles() bool { return f.now.Sub(f.tended.compaction.at) < settleTime }

// outOfSpace reports a member whose data is as large as it may be, and what is done about it: then no one
// can write. Its words stay the same for as long as nothing else is to be done.
func (f facts) outOfSpace(c *etcdv1beta2.EtcdCluster) string {
	alarms := f.alarms(etcd.AlarmNoSpace)
	if len(alarms) == 0 {
		return ""
	}
	says := fmt.Sprintf("Writes are refused: %s is out of space (alarm NOSPACE)", f.nameOf(alarms[0].Member))
	const byHand = "compact, defragment and disarm, or set " + quotaFlag + " in spec.pod.etcdEnv"
	switch {
	case !heals(c):
		return says + "; " + byHand
	case !f.quotaKnown(c):
		return says + ", and the value of " + quotaFlag + " is not in the spec, so it is not known how much room there is; " + byHand
	case f.tended.compaction.failed != "":
		return says + "; a compaction has failed: " + f.tended.compaction.failed
	case f.failedDefragmentation(c) != "":
		return says + "; " + f.failedDefragmentation(c)
	case f.isShort(c) && !f.settles() && f.compactTo(c) == 0 && !f.mayGain(c):
		return says + "; " + f.shortage(c)
	}
	return fmt.Sprintf("%s; the members are defragmented, and history but for the last %d revisions is thrown away if that is not enough", says, keepRevisions(c))
}

func (f facts) nameOf(id uint64) string {
	if m, ok := f.view.Member(id); ok && len(m.PeerURLs) > 0 {
		return nameOf(m.PeerURLs[0])
	}
	return fmt.Sprintf("member %016x", id)
}

// mayGain reports whether a defragmentation of some member may give something back.
func (f facts) mayGain(c *etcdv1beta2.EtcdCluster) bool {
	return slices.ContainsFunc(f.view.Voters(), func(m etcd.Member) bool {
		status := f.view.Status[m.ID]
		return status.Err != nil || f.promises(c, status) || f.isOwed(c, status)
	})
}
