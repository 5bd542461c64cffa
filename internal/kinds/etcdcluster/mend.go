// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/workload"
)

// reviveEnded has pods recreated that have ended and whose volume is still there.
func (f facts) reviveEnded(_ *etcdv1beta2.EtcdCluster, d *decision) {
	for _, m := range d.members {
		if m.lost == "" && m.pod != nil && ended(m.pod) {
			d.drop[m.name] = true
		}
	}
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
		case (persistent(c) || !m.started) && differs(c, m) && !f.tried(d, m, func(o member) bool { return !differs(c, o) }):
			d.drop[m.name] = true
			return true
		}
	}
	return false
}

// mayTry reports whether a member may go to the target: back at any time, and forward unless it might
// not be able to read its log there, or another one has gone and does not run.
func (f facts) mayTry(c *etcdv1beta2.EtcdCluster, d *decision, m member) bool {
	back := !older(c.Status.CurrentVersion, d.target)
	return back || !f.blind(c, d, m) && !f.tried(d, m, func(o member) bool { return versionOf(o.pod) == d.target })
}

// blind reports whether a member might not be able to read its log at the target. It does not tell by
// itself how far it is; another one that has gone there has waited for it.
func (f facts) blind(c *etcdv1beta2.EtcdCluster, d *decision, m member) bool {
	gone := func(o member) bool { return o.answers && !older(o.version, firstBlind) }
	return older(versionOf(m.pod), firstBlind) && f.owesSnapshot(c, d) && !slices.ContainsFunc(d.members, gone)
}

// tried reports whether another member that is not healthy is of a sort.
func (f facts) tried(d *decision, m member, is func(member) bool) bool {
	return slices.ContainsFunc(d.members, func(o member) bool { return o.name != m.name && !o.healthy && o.pod != nil && is(o) })
}

// broken reports whether etcd does not run in a pod, and does not for a reason that may last.
func broken(pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil || !runsSince(pod).IsZero() {
		return false
	}
	_, stuck := workload.WhyNotReady(pod)
	return stuck
}
