// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Currency is the input for the condition UpToDate: whether the members match the spec.
type Currency struct {
	Cluster *etcdv1beta2.EtcdCluster
	Members []model.Member
	// Invalid explains why opcrew cannot carry out the spec; nil if it can.
	Invalid *model.Obstacle
	// InvalidUpkeep is the problem with spec.upkeep; empty if there is none. This problem does not block other changes.
	InvalidUpkeep string
	// Waiting is what the next change waits for, as a clause to append to a message.
	Waiting string
	// Volumes explains how the volumes differ from the spec; nil if they match.
	Volumes *model.Obstacle
	// Paused is true if the user has paused the cluster, so that opcrew replaces no members.
	Paused bool
}

// UpToDate sets the condition UpToDate: whether every member matches the spec. If only the volumes do not match,
// UpToDate returns the message about the volumes for the condition Ready; otherwise it returns "".
func (u *Currency) UpToDate(set condition.Set) (note string) {
	const kind = etcdv1beta2.EtcdClusterUpToDate
	c, behind := u.Cluster, u.behind()
	switch {
	case u.Invalid != nil:
		set.False(kind, u.Invalid.Reason, u.Invalid.Message)
	case c.Status.ClusterID == "":
		set.False(kind, etcdv1beta2.ReasonCreating, "The first members are starting")
	case behind > 0:
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("%d of %d members do not match the spec yet%s%s", behind, len(u.Members), u.replaced(), u.Waiting))
	case u.InvalidUpkeep != "" && !model.Hibernating(c):
		set.False(kind, etcdv1beta2.ReasonInvalidSpec, u.InvalidUpkeep)
	case u.Volumes != nil:
		set.False(kind, u.Volumes.Reason, u.Volumes.Message)
		return u.Volumes.Message
	case model.Hibernating(c):
		set.True(kind, etcdv1beta2.ReasonHibernating, "The cluster hibernates, so no member runs")
	case recovery.AnyLost(u.Members):
		set.True(kind, etcdv1beta2.ReasonAllUpToDate, "All remaining members match the spec")
	default:
		set.True(kind, etcdv1beta2.ReasonAllUpToDate, "All members match the spec")
	}
	return ""
}

// behind counts the members that do not match the spec.
func (u *Currency) behind() int {
	count := 0
	for _, m := range u.Members {
		pending, _ := settings.PendingResize(m.Pod)
		version := model.VersionOf(m.Pod)
		other := version != versions.Desired(u.Cluster) || m.Version != "" && m.Version != version
		if m.ClaimDiffers != "" || m.Pod != nil && (m.Differs || m.ResizeNoted || pending != "" || other) {
			count++
		}
	}
	return count
}

// replaced returns a clause about the first claim that differs from the spec: how it differs, and when members with
// such claims are replaced. It returns "" if no claim differs.
func (u *Currency) replaced() string {
	i := slices.IndexFunc(u.Members, func(m model.Member) bool { return m.ClaimDiffers != "" })
	if i < 0 {
		return ""
	}
	out := "; " + u.Members[i].ClaimDiffers + ": members are replaced one at a time"
	switch {
	case model.Hibernating(u.Cluster):
		return out + " once spec.hibernate is false"
	case u.Paused:
		return out + " once the cluster is no longer paused (spec.paused, annotation " + common.PausedAnnotation + ")"
	}
	return out + ", each by a new member with a new claim"
}
