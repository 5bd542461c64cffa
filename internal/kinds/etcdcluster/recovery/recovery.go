// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package recovery decides how to recover a cluster that has lost its quorum permanently. A new member, the seed,
// starts a new cluster with the data of the best remaining member, or with a verified backup if no member remains.
// Package restore creates the seed. docs/design/etcd.md explains why opcrew does not use etcd's --force-new-cluster.
package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Find returns the recovery plan for a cluster; nil if the cluster needs none.
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

// digest returns an identifier of a plan. The user approves a plan by this identifier. A plan with other lost members
// or another source of data has another identifier.
func digest(c *etcdv1beta2.EtcdCluster, plan etcdv1beta2.QuorumRecovery) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %q %s %s %s", c.UID, c.Status.ClusterID, plan.Lost, plan.Member, plan.Backup, plan.Object))
	return hex.EncodeToString(sum[:])[:12]
}

// IsDue reports whether to carry out a plan now: the status shows the plan, the user wants it, and nothing blocks it.
// fresh is true if the view of the members is recent enough to decide on.
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

// AwaitsBackup reports whether a plan waits for a verified backup because all members are lost.
func (in *Input) AwaitsBackup(plan *Plan) bool {
	return plan != nil && plan.Waits != "" && Alive(in.Members) == 0
}
