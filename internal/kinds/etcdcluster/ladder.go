// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// learner sees a member that was added through to being a voter, or takes it out again. One
// that takes its time holds up no one who is lost.
func (f facts) learner(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	for _, m := range d.members {
		if m.voter() && m.started {
			continue
		}
		switch {
		case m.lost != "":
			d.step = remove(m, m.lost)
		case m.learner && int32(len(d.members)) > f.most(c, d):
			d.step = remove(m, "the cluster is to have fewer members now")
		case m.learner && (outdated(c, m) || m.claimDiffers != ""):
			d.step = remove(m, "its pod or its claim was made for an earlier spec")
		case m.learner && f.mute(m):
			d.step = remove(m, fmt.Sprintf("its pod has been ready for %s, and it answers nobody", muteTime))
		case m.started && m.healthy && m.start() == startOf(etcdstart.Established, m.id):
			d.step = promote(m) // one that was sent a snapshot may serve no one for seconds yet (etcd: publishV3)
		default:
			continue
		}
		return true
	}
	return false
}

// muteTime is how long a learner may answer no one though its pod is ready. One that was sent a snapshot serves
// clients only when it has told the others of itself, which it tries for some seconds at a time (etcd: publishV3).
const muteTime = 2 * time.Minute

// mute reports whether a learner is to be replaced by another that may fare better: nothing is lost by that.
func (f facts) mute(m member) bool {
	if _, asked := f.view.Status[m.id]; !asked || m.answers || m.pod == nil || !workload.Ready(m.pod) {
		return false
	}
	return f.now.Sub(workload.Turned(m.pod)) >= muteTime
}

// most is how many members there may be for a while: one more where a superseded one goes when its successor
// is there.
func (f facts) most(c *etcdv1beta2.EtcdCluster, d *decision) int32 {
	if slices.ContainsFunc(d.members, func(m member) bool { return m.voter() && superseded(c, m) }) {
		return c.Spec.Size + 1
	}
	return c.Spec.Size
}

// replaceLost takes out a voter that cannot come back. Its successor is added once it is
// out: with it in, a further failure could cost the quorum.
func (f facts) replaceLost(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	for _, m := range d.members {
		if m.lost == "" {
			continue
		}
		if !f.spares(m) {
			d.waits = "a quorum of healthy voters, to replace " + m.name
			return true
		}
		d.step = remove(m, m.lost)
		return true
	}
	return false
}

// spares reports whether the cluster can decide to take a voter out, and has a quorum without it.
func (f facts) spares(m member) bool {
	healthy, left := f.view.HealthyVoters(), len(f.view.Voters())-1
	without := healthy
	if m.healthy {
		without--
	}
	return healthy >= f.view.Quorum() && without >= left/2+1
}

// awaitHealthy lets no member be added while one is not well, as the store itself tells.
func (f facts) awaitHealthy(_ *etcdv1beta2.EtcdCluster, d *decision) bool {
	return f.await(d, member.well)
}

// awaitReady lets no one be taken away, or stopped, before the kubelets too say that all others
// can be reached: clients go by that. While a member is out of space etcd has no pod be ready, and the
// change may be what makes room.
func (f facts) awaitReady(_ *etcdv1beta2.EtcdCluster, d *decision) bool {
	if len(f.alarms(etcd.AlarmNoSpace)) > 0 {
		return f.await(d, member.well)
	}
	return f.await(d, member.ready)
}

func (f facts) await(d *decision, enough func(member) bool) bool {
	for _, m := range d.members {
		if enough(m) && m.version == versionOf(m.pod) {
			continue
		}
		d.waits = fmt.Sprintf("%s to be healthy%s", m.name, f.whyNot(m))
		if m.learner || !m.started {
			d.waits = fmt.Sprintf("%s to join%s", m.name, f.whyNot(m))
		}
		return true
	}
	return false
}

// whyNot explains what keeps a member from being ready.
func (f facts) whyNot(m member) string {
	switch {
	case m.pod == nil && f.paused:
		return ": its pod is gone, and is not made anew while the cluster is paused"
	case m.pod == nil:
		return ": its pod is being made"
	}
	if f.view.Work == defragmentationOf(m.name) {
		return ": its data is being defragmented"
	}
	if why, _ := f.whyUnready(m); why != "" {
		return ": " + why
	}
	status, asked := f.view.Status[m.id]
	switch {
	case asked && status.Err != nil:
		return fmt.Sprintf(": %v", status.Err)
	case asked && slices.Contains(status.Alarms(), etcd.Alarm{Member: m.id, Kind: etcd.AlarmCorrupt}):
		return ": etcd says that its data is corrupt (alarm CORRUPT)"
	case asked && status.Leader == 0:
		return ": it follows no leader"
	}
	return ""
}

// whyUnready explains what keeps a member's pod from being ready, and whether it may need a hand.
func (f facts) whyUnready(m member) (why string, stuck bool) {
	if f.unbound.Words != "" && f.unbound.Pod == m.name {
		return f.unbound.Words, true
	}
	return workload.WhyNotReady(m.pod)
}

// shrink takes a member out that is too many: the superseded first, then the outdated, then the newest; never the
// one that leads, which hands over before.
func (f facts) shrink(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	if d.invalid != nil && d.invalid.reason == etcdv1beta2.ReasonInvalidSpec || int32(len(d.members)) <= c.Spec.Size {
		return false
	}
	rank := func(m member) int {
		switch {
		case superseded(c, m):
			return 2
		case outdated(c, m):
			return 1
		}
		return 0
	}
	victim := slices.MaxFunc(d.members, func(a, b member) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.serial, b.serial))
	})
	why := "the cluster has more members than asked for"
	if victim.claimDiffers != "" {
		why += "; " + victim.claimDiffers
	}
	d.step = f.spared(d, victim, remove(victim, why))
	return true
}

// spared has the leader hand over before something is done to it.
func (f facts) spared(d *decision, m member, then *step) *step {
	leader, known := f.view.Leader()
	if !known || leader != m.id {
		return then
	}
	for _, heir := range d.members {
		if heir.id != m.id && heir.voter() && heir.healthy {
			return handOver(m, heir)
		}
	}
	return then
}

// grow adds a member, or the successor of a superseded one, which goes only when its successor is there.
func (f facts) grow(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	if d.invalid != nil && d.invalid.reason == etcdv1beta2.ReasonInvalidSpec {
		return false
	}
	surge := int32(len(d.members)) == c.Spec.Size && (d.target == "" || f.owesSnapshot(c, d)) &&
		slices.ContainsFunc(d.members, func(m member) bool { return superseded(c, m) })
	if int32(len(d.members)) >= c.Spec.Size && !surge {
		return false
	}
	name := memberName(c, f.nextSerial(c, d.members))
	d.step = add(name, c.PeerURL(name), learns(f.lowest(c, d)))
	return true
}
