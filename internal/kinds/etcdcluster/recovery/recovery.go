// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package recovery decides how to recover a cluster that has lost its quorum for good. As in a restore, a new member
// (the seed) begins another lineage, with the best remaining member's data or else a restorable backup; package restore
// makes it. docs/design/etcd.md explains why etcd's --force-new-cluster is not used.
package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Find returns the recovery plan for a cluster; nil if it needs none.
func Find(in *Input) *Plan {
	c := in.Cluster
	if c.Status.ClusterID == "" || model.Hibernating(c) || model.Restoring(c) || in.View.Err == nil || !Hopeless(in.Members) {
		return nil
	}
	plan := &Plan{Waits: Unproven(in.Members)}
	if plan.Waits != "" {
		return plan
	}
	for _, m := range in.Members {
		if m.Lost != "" {
			plan.Lost = append(plan.Lost, m.Name)
		}
	}
	if Alive(in.Members) > 0 {
		in.fromMember(plan)
	} else {
		in.fromBackup(plan)
	}
	if plan.Waits == "" {
		plan.Digest = digest(c, plan.QuorumRecovery)
	}
	return plan
}

// digest identifies a plan. A plan for another loss, or after a change, has another digest.
func digest(c *etcdv1beta2.EtcdCluster, plan etcdv1beta2.QuorumRecovery) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %q %s %s %s", c.UID, c.Status.ClusterID, plan.Lost, plan.Member, plan.Backup, plan.Object))
	return hex.EncodeToString(sum[:])[:12]
}

// IsDue reports whether to carry out a plan: it is in the status, a user wants it, and nothing of an earlier restore is
// left. fresh is true if the view is recent enough to decide on.
func (in *Input) IsDue(plan *Plan, fresh bool) bool {
	written := in.Cluster.Status.QuorumLoss
	switch {
	case plan == nil || plan.Waits != "" || !fresh || in.HeldBy != "":
		return false
	case written == nil || written.Digest == "" || written.Digest != plan.Digest:
		return false
	}
	return isWanted(in.Cluster, plan.Digest)
}

// AwaitsBackup reports whether a plan waits for a backup, as no member is left.
func (in *Input) AwaitsBackup(plan *Plan) bool {
	return plan != nil && plan.Waits != "" && Alive(in.Members) == 0
}
