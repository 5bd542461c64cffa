// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report sets the conditions of an EtcdCluster from what was read and decided. Each group of conditions has its
// own input. Packages restore and recovery report on a restore and a recovery.
package report

import (
	"fmt"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Available sets the condition Available, which reports whether there is a quorum and how many voters are healthy.
func (a *Availability) Available(set condition.Set) {
	const kind = etcdv1beta2.EtcdClusterAvailable
	c := a.Cluster
	healthy, voters := a.healthy()
	needed := voters/2 + 1
	quorum := fmt.Sprintf("%d of %d voters are healthy, %d are needed", healthy, voters, needed)
	c.Status.Quorum = ""
	if reason, message := a.unformed(); reason != "" {
		set.False(kind, reason, message)
		return
	}
	c.Status.Quorum = quorum
	hopeless := recovery.Hopeless(a.Members)
	switch {
	case a.SwitchingOver != "":
		set.False(kind, etcdv1beta2.ReasonRestoring, a.SwitchingOver)
	case a.WritesRefused != nil:
		set.False(kind, a.WritesRefused.Reason, a.WritesRefused.Message)
	case a.View.Err == nil && healthy >= needed:
		set.True(kind, etcdv1beta2.ReasonClusterAvailable, "Cluster available: "+quorum)
	case a.View.Err == nil && !hopeless: // only a quorum can list the members, so the cluster has one
		set.True(kind, etcdv1beta2.ReasonClusterAvailable, "Cluster available: the members have a quorum, but not all of them respond: "+quorum)
	case hopeless:
		set.False(kind, etcdv1beta2.ReasonQuorumLost, "Quorum is lost: "+quorum+gone(a.Members)+recovery.PlanOf(c))
	case healthy < needed && a.isPlanned():
		set.False(kind, common.ReasonUpdating, "The members are restarting: "+quorum)
	case healthy < needed:
		set.False(kind, etcdv1beta2.ReasonQuorumLost, "Quorum is lost: "+quorum+firstCause(a.Members, a.Paused)+recovery.PlanOf(c))
	default:
		set.Unknown(kind, etcdv1beta2.ReasonUnreachable, fmt.Sprintf("The members cannot be listed: %v", a.View.Err))
	}
}

// unformed returns the reason and message if the cluster has no quorum to report on, because it hibernates or its first
// members have not had a quorum yet. Both are empty otherwise.
func (a *Availability) unformed() (reason, message string) {
	switch {
	case model.Hibernating(a.Cluster):
		return etcdv1beta2.ReasonHibernating, "The cluster is hibernating (spec.hibernate), so no member is running"
	case a.Cluster.Status.ClusterID == "":
		return a.Beginning()
	case a.IsMistaken():
		return etcdv1beta2.ReasonClusterIDMismatch, a.mismatch()
	}
	return "", ""
}

// healthy counts the healthy voters and all voters. Without a quorum no voter has a leader, so every voter that answers
// then counts as healthy.
func (a *Availability) healthy() (healthy, voters int) {
	for _, m := range a.Members {
		if !m.Voter() {
			continue
		}
		voters++
		if m.Healthy || m.Answers && a.View.Err != nil {
			healthy++
		}
	}
	return healthy, voters
}

// IsMistaken reports whether an etcd cluster whose ID is not status.clusterID responds, although the members can still
// form a quorum. In this case, the status or the data was changed, and only the user knows which of the two is right.
func (a *Availability) IsMistaken() bool { return a.OtherID != "" && !recovery.Hopeless(a.Members) }

// mismatch explains that an etcd cluster whose ID is not status.clusterID responds, and what the user can do.
func (a *Availability) mismatch() string {
	c := a.Cluster
	return fmt.Sprintf("status.clusterID is %s, but cluster %s responds at the members' addresses: either the status was changed, or volumes were replaced. "+
		"opcrew does not change the members. If the data is right, set status.clusterID: kubectl patch etcdcluster %s -n %s --subresource=status --type=merge "+
		`-p '{"status":{"clusterID":"%s"}}'; otherwise, restore the original volumes`,
		c.Status.ClusterID, a.OtherID, c.Name, c.Namespace, a.OtherID)
}
