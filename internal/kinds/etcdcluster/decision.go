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

// stage is what opcrew does about a cluster as a whole.
type stage int

const (
	// deleted: there is nothing to do, as the garbage collector deletes all children.
	deleted stage = iota
	// behind: the cache has an older status than the API server.
	behind
	// statusLost: opcrew changes nothing until the members have reported what the status has lost.
	statusLost
	// beginning: a restore or a recovery is being written to the status, before anything else.
	beginning
	// restoring: a restore or a recovery is under way.
	restoring
	// running: the members are changed to match the spec.
	running
)

// decision holds what to do next about a cluster, and why.
type decision struct {
	stage stage
	// recollected is true if the members have reported what the status has lost. The decision relies on their report.
	recollected bool
	// recovery is the plan for a lost quorum; nil if none is needed.
	recovery *recovery.Plan
	members  []model.Member
	// next is the verdict of the first rule that returned one: at most one change of the cluster, or what it waits for.
	next steps.Verdict
	// drop names members whose pods are deleted, to be recreated.
	drop map[string]bool
	// dropClaim names members whose claims are recreated for the current spec. Nothing was ever written to these
	// claims.
	dropClaim map[string]bool
	// establish holds members whose pods may no longer start on an empty volume; show holds members that clients may
	// reach now.
	establish, show []model.Member
	// target is the version that members change to; empty if they keep theirs.
	target string
	// invalid explains why the spec cannot be carried out. What is running keeps running.
	invalid *model.Obstacle
}

// maxAge is the maximum age of a view of the members that a decision may rely on.
const maxAge = 15 * time.Second

// follow adopts a verdict, and reports whether it decides anything.
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

// recreateEnded recreates ended pods whose volume still exists.
func (d *decision) recreateEnded() {
	for _, m := range d.members {
		if m.Lost == "" && m.Pod != nil && model.Ended(m.Pod) {
			d.drop[m.Name] = true
		}
	}
}

// has reports whether there is a member with a name.
func (d decision) has(name string) bool {
	return slices.ContainsFunc(d.members, func(m model.Member) bool { return m.Name == name })
}

// voters returns the number of voters.
func (d decision) voters() int32 { return model.Voters(d.members) }
