// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/etcd"
	"github.com/opcrew/opcrew/internal/helper/etcdgate"
	"github.com/opcrew/opcrew/internal/workload"
)

// decision is what to do next about a cluster, and why.
type decision struct {
	members []member
	// drop are members whose pods are not to be there for now: they are made anew.
	drop map[string]bool
	// establish are members that may not start on an empty volume any more.
	establish []member
	// change is the member whose pod gets another version in place, and to which.
	change  *member
	version string
	// step is the one change of the membership or of the lead that comes next.
	step *step
	// target is the version that members change to; empty when none does.
	target string
	// invalid says why the spec cannot be carried out; what runs goes on.
	invalid *obstacle
	// waits says what the next step waits for; empty while nothing is to be done.
	waits string
	// again is when to look again if nothing happens until then; 0: only then.
	again time.Duration
}

// obstacle is why something cannot be.
type obstacle struct{ reason, message string }

// maxAge is how old a look at the members may be that something is decided on.
const maxAge = 15 * time.Second

// decide says what comes next. It is a ladder: the first rung on which there is something
// to do decides, so that there is never more than one change of the membership at a time.
func (f facts) decide(c *etcdv1beta2.EtcdCluster) decision {
	d := decision{members: f.members(c), drop: map[string]bool{}}
	d.invalid = f.invalid(c, &d)
	if c.Status.ClusterID == "" {
		f.begin(c, &d)
		return d
	}
	if asleep(c) {
		return d
	}
	f.reviveEnded(c, &d)
	if f.mendBroken(c, &d) {
		return d
	}
	switch {
	case f.view.Err != nil || f.view.At.IsZero():
		d.waits = "an answer of the cluster"
		return d
	case f.view.Stale || f.now.Sub(f.view.At) > maxAge:
		d.waits = "the next look at the cluster"
		return d
	}
	f.establish(c, &d)
	for _, rung := range []func(*etcdv1beta2.EtcdCluster, *decision) bool{
		f.learner, f.replaceLost, f.awaitHealthy, f.shrink, f.grow, f.update,
	} {
		if rung(c, &d) {
			break
		}
	}
	return d
}

// begin brings the first members up. Nobody has written to the cluster yet, so that pods may
// be made anew as the user changes his mind.
func (f facts) begin(c *etcdv1beta2.EtcdCluster, d *decision) {
	for i, m := range d.members {
		if m.pod == nil || m.pod.DeletionTimestamp != nil || m.patched {
			continue
		}
		switch {
		case ended(m.pod), m.pod.Annotations[wishesAnnotation] != wishes(c):
			d.drop[m.name] = true
		case versionOf(m.pod) != wanted(c) && d.change == nil && d.invalid == nil:
			d.change, d.version = &d.members[i], wanted(c)
		}
	}
}

// establish takes from pods the permission to start on an empty volume: from the first
// members once they have formed the cluster, and from a later one once it has run.
func (f facts) establish(_ *etcdv1beta2.EtcdCluster, d *decision) {
	for _, m := range d.members {
		begins := m.started || strings.HasPrefix(m.start(), string(etcdgate.Bootstrap)+" ")
		if m.pod != nil && m.pod.DeletionTimestamp == nil && !m.patched && begins && m.start() != startOf(etcdgate.Established, m.id) {
			d.establish = append(d.establish, m)
		}
	}
}

// reviveEnded has pods made anew that have ended and whose volume is still there.
func (f facts) reviveEnded(_ *etcdv1beta2.EtcdCluster, d *decision) {
	for _, m := range d.members {
		if m.lost == "" && m.pod != nil && ended(m.pod) {
			d.drop[m.name] = true
		}
	}
}

// learner sees a member that was added through to being a voter, or takes it out again. One
// that takes its time holds up nobody who is lost.
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
		case m.learner && outdated(c, m):
			d.step = remove(m, "its pod was made for an earlier spec")
		case m.started && m.start() == startOf(etcdgate.Established, m.id):
			d.step = promote(m)
		default:
			continue
		}
		return true
	}
	return false
}

// most is how many members there may be for a while: one more where an outdated one in an emptyDir
// goes when its successor is there.
func (f facts) most(c *etcdv1beta2.EtcdCluster, d *decision) int32 {
	if !persistent(c) && slices.ContainsFunc(d.members, func(m member) bool { return m.voter() && outdated(c, m) }) {
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

// spares tells whether the cluster can decide to take a voter out, and has a quorum without it.
func (f facts) spares(m member) bool {
	healthy, left := f.view.HealthyVoters(), len(f.view.Voters())-1
	without := healthy
	if m.healthy {
		without--
	}
	return healthy >= f.view.Quorum() && without >= left/2+1
}

// mendBroken changes a member whose etcd does not run at all to what the spec says now. That takes
// nothing away, needs no quorum, and lets a bad image or field be corrected. What has not been
// seen to work is tried on one member only.
func (f facts) mendBroken(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	if d.invalid != nil {
		return false
	}
	for i, m := range d.members {
		if m.healthy || m.patched || m.lost != "" || !broken(m.pod) {
			continue
		}
		switch {
		case d.target != "" && versionOf(m.pod) != d.target && f.mayTry(c, d, m):
			d.change, d.version = &d.members[i], d.target
			return true
		case (persistent(c) || !m.started) && outdated(c, m) && !f.tried(d, m, func(o member) bool { return !outdated(c, o) }):
			d.drop[m.name] = true
			return true
		}
	}
	return false
}

// mayTry tells whether a member may go to the target: back at any time, and forward unless
// another one has done so and does not run.
func (f facts) mayTry(c *etcdv1beta2.EtcdCluster, d *decision, m member) bool {
	back := !older(c.Status.CurrentVersion, d.target)
	return back || !f.tried(d, m, func(o member) bool { return versionOf(o.pod) == d.target })
}

// tried tells whether another member that is not healthy is of a sort.
func (f facts) tried(d *decision, m member, is func(member) bool) bool {
	return slices.ContainsFunc(d.members, func(o member) bool { return o.name != m.name && !o.healthy && o.pod != nil && is(o) })
}

// broken tells whether etcd does not run in a pod, and does not for a reason that may last.
func broken(pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil || !runsSince(pod).IsZero() {
		return false
	}
	_, stuck := workload.WhyNotReady(pod)
	return stuck
}

// awaitHealthy lets nothing be changed that need not be while a member is not well.
func (f facts) awaitHealthy(_ *etcdv1beta2.EtcdCluster, d *decision) bool {
	for _, m := range d.members {
		if !m.ready() || m.pod != nil && m.version != versionOf(m.pod) {
			d.waits = fmt.Sprintf("%s to be healthy%s", m.name, f.whyNot(m))
			if m.learner || !m.started {
				d.waits = fmt.Sprintf("%s to join%s", m.name, f.whyNot(m))
			}
			return true
		}
	}
	return false
}

// whyNot explains what keeps a member from being ready.
func (f facts) whyNot(m member) string {
	if m.pod == nil {
		return ": its pod is being made"
	}
	if why, _ := workload.WhyNotReady(m.pod); why != "" {
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

// shrink takes a member out that is too many: the outdated first, then the newest; never the
// one that leads, which hands over before.
func (f facts) shrink(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	if d.invalid != nil && d.invalid.reason == etcdv1beta2.ReasonInvalidSpec || int32(len(d.members)) <= c.Spec.Size {
		return false
	}
	victim := slices.MaxFunc(d.members, func(a, b member) int {
		if x, y := outdated(c, a), outdated(c, b); x != y {
			if x {
				return 1
			}
			return -1
		}
		return int(a.serial - b.serial)
	})
	d.step = f.spared(d, victim, remove(victim, "the cluster has more members than asked for"))
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

// grow adds a member, or one that takes the place of an outdated one in an emptyDir: that
// goes only when its successor is there.
func (f facts) grow(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	if d.invalid != nil && d.invalid.reason == etcdv1beta2.ReasonInvalidSpec {
		return false
	}
	surge := !persistent(c) && int32(len(d.members)) == c.Spec.Size && d.target == "" &&
		slices.ContainsFunc(d.members, func(m member) bool { return outdated(c, m) })
	if int32(len(d.members)) >= c.Spec.Size && !surge {
		return false
	}
	name := memberName(c, f.nextSerial(c, d.members))
	d.step = add(name, peerURL(c, name), learns(f.lowest(c, d)))
	return true
}

// update changes one member to what the spec says: its version in place, anything else by
// making its pod anew. The leader is the last, and hands over before.
func (f facts) update(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	if d.invalid != nil {
		return false
	}
	if d.waits = f.settling(c, d); d.waits != "" {
		return true
	}
	due := func(m member) bool {
		return d.target != "" && versionOf(m.pod) != d.target || persistent(c) && outdated(c, m)
	}
	leader, _ := f.view.Leader()
	last := -1
	for i, m := range d.members {
		switch {
		case !due(m):
		case m.id == leader && last < 0:
			last = i
		case m.id != leader:
			f.updateOne(c, d, i)
			return true
		}
	}
	if last < 0 {
		return false
	}
	if d.step = f.spared(d, d.members[last], nil); d.step == nil {
		f.updateOne(c, d, last)
	}
	return true
}

// settleTime passes between two minor versions: the members decide among themselves, every
// few seconds, which version the cluster as a whole speaks, and one that is two minor
// versions ahead of that does not join (etcd: monitorVersionInterval, isCompatibleWithCluster).
const settleTime = 10 * time.Second

// settling tells that the last step over a minor version was made only now.
func (f facts) settling(c *etcdv1beta2.EtcdCluster, d *decision) string {
	if d.target == "" || sameMinor(f.lowest(c, d), d.target) {
		return ""
	}
	for _, m := range d.members {
		if versionOf(m.pod) == d.target {
			return "" // it has begun
		}
	}
	for _, m := range d.members {
		if left := settleTime - f.now.Sub(runsSince(m.pod)); left > 0 {
			d.again = max(d.again, left)
		}
	}
	if d.again > 0 {
		return "all members to agree on their version"
	}
	return ""
}

func (f facts) updateOne(c *etcdv1beta2.EtcdCluster, d *decision, i int) {
	m := &d.members[i]
	if persistent(c) && outdated(c, *m) {
		d.drop[m.name] = true
		return
	}
	d.change, d.version = m, d.target
}

// outdated tells whether a pod was made for other wishes than the spec's, its version apart.
func outdated(c *etcdv1beta2.EtcdCluster, m member) bool {
	return m.pod != nil && m.pod.Annotations[wishesAnnotation] != wishes(c)
}

// lowest is the lowest version that any member runs. For one that does not answer it is the
// lowest that was last seen: its pod may be of a version that never came up.
func (f facts) lowest(c *etcdv1beta2.EtcdCluster, d *decision) string {
	low := ""
	for _, m := range d.members {
		if v := runs(c, m); v != "" && (low == "" || older(v, low)) {
			low = v
		}
	}
	return low
}

// runs is the version that a member runs, or, if it does not answer, the lowest that any did.
func runs(c *etcdv1beta2.EtcdCluster, m member) string {
	return cmp.Or(m.version, c.Status.CurrentVersion, versionOf(m.pod))
}

func older(a, b string) bool {
	x, errX := parse(a)
	y, errY := parse(b)
	return errX == nil && errY == nil && x.LessThan(y)
}

// invalid finds what keeps the spec from being carried out, and the version that members
// change to if it can be.
func (f facts) invalid(c *etcdv1beta2.EtcdCluster, d *decision) *obstacle {
	if c.Spec.Size < 1 || c.Spec.Size > 7 {
		return &obstacle{etcdv1beta2.ReasonInvalidSpec, fmt.Sprintf("spec.size: %d members cannot be; use 1 to 7", c.Spec.Size)}
	}
	if _, err := parse(wanted(c)); err != nil {
		return &obstacle{etcdv1beta2.ReasonInvalidSpec, "spec." + err.Error()}
	}
	if f.tls != nil {
		return f.tls
	}
	if c.Status.ClusterID == "" {
		return nil
	}
	low := f.lowest(c, d)
	if low == "" || low == wanted(c) && f.allOf(d, low) {
		return nil
	}
	to, err := next(low, wanted(c), c.Spec.UpgradePath)
	if err != nil {
		return &obstacle{etcdv1beta2.ReasonImpossibleVersion, err.Error()}
	}
	if !f.allOf(d, to) {
		d.target = to
	}
	return nil
}

// allOf tells whether every pod is of a version.
func (f facts) allOf(d *decision, text string) bool {
	return !slices.ContainsFunc(d.members, func(m member) bool { return m.pod != nil && versionOf(m.pod) != text })
}
