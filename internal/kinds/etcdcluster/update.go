// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"slices"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// update changes one member to what the spec says: its version in place, anything else by
// making its pod again. The leader is the last, and hands over before.
func (f facts) update(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	if d.invalid != nil {
		return false
	}
	if d.waits = f.settling(c, d); d.waits != "" {
		return true
	}
	other := func(m member) bool { return persistent(c) && outdated(c, m) }
	if !f.owesSnapshot(c, d) {
		return f.updateNext(c, d, func(m member) bool { return d.target != "" && versionOf(m.pod) != d.target || other(m) })
	}
	// Pods are recreated for other settings before: those may be about when there is a snapshot.
	if !f.updateNext(c, d, other) {
		f.passEntries(c, d)
	}
	return true
}

// updateNext changes the next member of those that are due, if there is one.
func (f facts) updateNext(c *etcdv1beta2.EtcdCluster, d *decision, due func(member) bool) bool {
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

// settling says what keeps the members from going to another minor version: all of them run
// the lowest, and the cluster must speak it first. The members raise that among themselves,
// every few seconds (etcd: monitorVersionInterval), and nothing in etcd keeps one of the version
// after the next from joining before, which its upgrade guides do not know.
func (f facts) settling(c *etcdv1beta2.EtcdCluster, d *decision) string {
	low, said, why := f.lowest(c, d), f.view.ClusterVersion, ""
	if d.target == "" || sameMinor(low, d.target) || sameMinor(low, said) {
		return ""
	}
	if err := f.view.VersionErr; err != nil {
		why = fmt.Sprintf(": %v", err)
	}
	if said == "" {
		return "the cluster to say on which version its members have agreed" + why
	}
	return fmt.Sprintf("the members to agree on version %s (the cluster still speaks %s)%s", minorOf(low), minorOf(said), why)
}

func (f facts) updateOne(c *etcdv1beta2.EtcdCluster, d *decision, i int) {
	m := &d.members[i]
	if persistent(c) && outdated(c, *m) {
		d.drop[m.name] = true
		return
	}
	d.change, d.version = m, d.target
}

// outdated reports whether a pod must be recreated for what the spec says.
func outdated(c *etcdv1beta2.EtcdCluster, m member) bool { return differs(c, m) && !m.renotes }

// differs reports whether a pod was made for other settings than the spec's, its version apart.
func differs(c *etcdv1beta2.EtcdCluster, m member) bool {
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
	if !f.allOf(d, to) || low != to && slices.ContainsFunc(d.members, func(m member) bool { return m.pod == nil }) {
		d.target = to // what is not there comes back as it was, and goes on from there
	}
	return nil
}

// allOf reports whether every pod is of a version.
func (f facts) allOf(d *decision, text string) bool {
	return !slices.ContainsFunc(d.members, func(m member) bool { return m.pod != nil && versionOf(m.pod) != text })
}
