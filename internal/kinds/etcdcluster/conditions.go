// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/report"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/upkeep"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/volumes"
)

// availability collects the input for the condition Available.
func (r reporter) availability() *report.Availability {
	c, d := r.c, r.d
	a := &report.Availability{
		Cluster: c, Now: r.now, View: r.view, Members: d.members, Invalid: d.invalid, Paused: r.paused,
		WritesRefused: r.refusesWrites(c, d.members), OtherID: r.otherID, StartsOver: len(d.drop) > 0 && r.formation(c).StartsOver(),
	}
	if r.lineage(c, d.members).SwitchesOver(r.view.Err == nil) {
		a.SwitchingOver = r.restoreInput(c).SwitchingOver()
	}
	return a
}

// membership collects the input for the conditions about the number of members.
func (r reporter) membership() *report.Membership {
	c, d := r.c, r.d
	return &report.Membership{
		Cluster: c, Now: r.now, Members: d.members, Unknown: r.membersUnknown(), Foreign: r.foreign(c), Claims: len(r.claims),
		Leaving: planner{r.facts, c, d}.stray(), Waiting: r.waiting(), Target: d.target, Paused: r.paused,
	}
}

// membersUnknown returns the reason why the status cannot report on the members; nil if it can.
func (r reporter) membersUnknown() *model.Obstacle {
	c, d := r.c, r.d
	a := r.availability()
	switch {
	case c.Status.ClusterID == "":
		return model.NewObstacle(a.Beginning())
	case d.invalid != nil && d.invalid.Reason == etcdv1beta2.ReasonInvalidSpec:
		return d.invalid
	case a.IsMistaken():
		return model.NewObstacle(etcdv1beta2.ReasonClusterIDMismatch, "opcrew does not know the members of the cluster: "+r.view.Err.Error())
	}
	return nil
}

// currency collects the input for the condition UpToDate.
func (r reporter) currency() *report.Currency {
	c, d := r.c, r.d
	u := &report.Currency{
		Cluster: c, Members: d.members, Waiting: r.waiting(), Paused: r.paused,
		InvalidUpkeep: upkeep.Invalid(settings.Upkeep(c), versions.Desired(c)),
	}
	if d.invalid != nil && (c.Status.ClusterID == "" || d.invalid != r.tls) {
		u.Invalid = d.invalid
	}
	if reason, message := volumes.Problem(r.volumes); message != "" {
		u.Volumes = model.NewObstacle(reason, message)
	}
	return u
}
