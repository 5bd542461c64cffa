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

// stage is what is done about a cluster as a whole.
type stage int

const (
	// deleted: nothing; all children are collected with their owner.
	deleted stage = iota
	// behind: the API server has a newer status than the cache.
	behind
	// statusLost: nothing before the members have reported what the status has lost.
	statusLost
	// beginning a restore or a recovery is written to the status first.
	beginning
	// restoring: a restore or a recovery is under way.
	restoring
	// running: the members are changed to match the spec.
	running
)

// decision is what to do next about a cluster, and why.
type decision struct {
	stage stage
	// recollected: the members have reported what the status has lost, and the decision rests on that.
	recollected bool
	// recovery is the plan for a lost quorum; nil: none is needed.
	recovery *recovery.Plan
	members  []model.Member
	// next is the verdict of the first rule that decided anything: at most one change of the cluster, or what it waits for.
	next steps.Verdict
	// drop names members whose pods are deleted, to be recreated.
	drop map[string]bool
	// dropClaim names members whose claims are recreated for the present spec. Nothing was ever written to these.
	dropClaim map[string]bool
	// establish are members whose pods may no longer start on an empty volume, and show those that clients may reach now.
	establish, show []model.Member
	// target is the version that members change to; empty: none.
	target string
	// invalid is why the spec cannot be carried out; what runs keeps running.
	invalid *model.Obstacle
}

// maxAge is how old a view of the members may be that something is decided on.
const maxAge = 15 * time.Second

// follow takes a verdict over, and reports whether it decides anything.
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

// recreateEnded recreates pods that have ended and whose volume still exists.
func (d *decision) recreateEnded() {
	for _, m := range d.members {
		if m.Lost == "" && m.Pod != nil && model.Ended(m.Pod) {
			d.drop[m.Name] = true
		}
	}
}

// has reports whether there is a member of a name.
func (d decision) has(name string) bool {
	return slices.ContainsFunc(d.members, func(m model.Member) bool { return m.Name == name })
}

// voters is how many members vote.
func (d decision) voters() int32 { return model.Voters(d.members) }
