// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// decision is what to do next about a cluster, and why.
type decision struct {
	members []member
	// drop are members whose pods are not to be there for now: they are recreated.
	drop map[string]bool
	// dropClaim are members whose claims, which nothing was ever written to, are made again as the spec says now.
	dropClaim map[string]bool
	// establish are members that may not start on an empty volume any more, and show those that
	// clients may come to from now on.
	establish, show []member
	// change is the member whose pod gets another version in place, and to which.
	change  *member
	version string
	// resize is the member whose pod is given other resources while it runs.
	resize *member
	// step is the one change of the membership or of the lead that comes next.
	step *step
	// target is the version that members change to; empty when none does.
	target string
	// invalid says why the spec cannot be carried out; what runs goes on.
	invalid *obstacle
	// waits says what the next step waits for; empty while nothing is to be done.
	waits string
}

// obstacle is why something cannot be.
type obstacle struct{ reason, message string }

// maxAge is how old a look at the members may be that something is decided on.
const maxAge = 15 * time.Second

// decide says what comes next. It is a ladder: the first rung on which there is something
// to do decides, so that there is never more than one change of the membership at a time.
func (f facts) decide(c *etcdv1beta2.EtcdCluster) decision {
	d := decision{members: f.members(c), drop: map[string]bool{}, dropClaim: map[string]bool{}}
	d.invalid = f.invalid(c, &d)
	if c.Status.ClusterID == "" {
		f.begin(c, &d)
		return d
	}
	if asleep(c) {
		return d
	}
	f.reviveEnded(c, &d)
	f.resizeBroken(c, &d)
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
		f.awaitWork, f.learner, f.replaceLost, f.mendCorrupt, f.makeRoom,
		f.awaitHealthy, f.grow, f.awaitReady, f.shrink, f.update, f.defragment, f.resize,
	} {
		if rung(c, &d) {
			break
		}
	}
	return d
}

// begin brings the first members up. No one has written to the cluster yet, so that pods may
// be recreated as the user changes his mind.
func (f facts) begin(c *etcdv1beta2.EtcdCluster, d *decision) {
	over := f.startsOver(c)
	for i, m := range d.members {
		if m.claimDiffers != "" && unprovisioned(m.claim) {
			d.drop[m.name], d.dropClaim[m.name] = true, true
			continue
		}
		if m.pod == nil || m.pod.DeletionTimestamp != nil || m.patched {
			continue
		}
		switch {
		case over, ended(m.pod), m.pod.Annotations[wishesAnnotation] != wishes(c), hasLost(m.pod) && !f.view.HasQuorum():
			d.drop[m.name] = true
		case versionOf(m.pod) != wanted(c) && d.change == nil && d.invalid == nil:
			d.change, d.version = &d.members[i], wanted(c)
		}
	}
}

// establish takes from pods the permission to start on an empty volume: from the first
// members once they have formed the cluster, and from a later one once it has run. And it lets
// clients come to those that vote.
func (f facts) establish(c *etcdv1beta2.EtcdCluster, d *decision) {
	for _, m := range d.members {
		begins := m.started || strings.HasPrefix(m.start(), string(etcdstart.Bootstrap)+" ")
		if m.pod == nil || m.pod.DeletionTimestamp != nil || m.patched || !begins {
			continue
		}
		switch {
		case m.start() != startOf(etcdstart.Established, m.id):
			d.establish = append(d.establish, m)
		case !m.shown() && f.mayShow(c, m):
			d.show = append(d.show, m)
		}
	}
}
