// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// stage is the state of the cluster as a whole, which determines what opcrew does.
type stage int

const (
	// deleted: nothing is left to do, as the garbage collector deletes all objects of the cluster.
	deleted stage = iota
	// behind: the cached status of the EtcdCluster is older than the API server's.
	behind
	// statusLost: the status was lost. opcrew changes nothing until the members have reported what it held.
	statusLost
	// beginning: a restore or a recovery is to start. opcrew first records it in the status.
	beginning
	// restoring: a restore or a recovery is in progress.
	restoring
	// running: opcrew changes the members to match the spec.
	running
)

// decision is what opcrew does next about a cluster, and why.
type decision struct {
	stage stage
	// recollected is true if the status was lost, and the members have now reported what the status held.
	recollected bool
	// recovery is the plan to recover from a lost quorum; nil if the cluster needs none.
	recovery *recovery.Plan
	members  []model.Member
	// next is the verdict of the first rule that decided: at most one change of the cluster, or what the next change
	// waits for.
	next steps.Verdict
	// drop names the members whose pods opcrew deletes and then recreates.
	drop map[string]bool
	// dropClaim names the members whose claims opcrew recreates to match the spec. No data was ever written to these
	// claims.
	dropClaim map[string]bool
	// establish holds the members whose pods lose their permission to start etcd on an empty volume, because the
	// members have data now. show holds other members, which clients may reach from now on.
	establish, show []model.Member
	// target is the etcd version that members change to next; empty if they keep their version.
	target string
	// invalid explains why opcrew cannot carry out the spec; nil if it can. Running members keep running.
	invalid *model.Obstacle
}

// maxAge is how old the prober's last reading of the members may be. Decisions do not rely on an older reading.
const maxAge = 15 * time.Second

// follow adopts a rule's verdict. It returns false if the verdict is empty, so that the next rule decides.
func (d *decision) follow(v steps.Verdict) bool {
	if v == (steps.Verdict{}) {
		return false
	}
	if v.Recreate != "" {
		d.drop[v.Recreate] = true
	}
	if v.Resize == nil {
		v.Resize = d.next.Resize
	}
	d.next = v
	return true
}

// recreateEnded selects ended pods, such as evicted ones, to be recreated if their member still has its volume.
func (d *decision) recreateEnded() {
	for _, m := range d.members {
		if m.Lost == "" && m.Pod != nil && model.Ended(m.Pod) {
			d.drop[m.Name] = true
		}
	}
}

// has reports whether the cluster has a member with this name.
func (d decision) has(name string) bool {
	return slices.ContainsFunc(d.members, func(m model.Member) bool { return m.Name == name })
}

// voters returns the number of voters.
func (d decision) voters() int32 { return model.Voters(d.members) }
