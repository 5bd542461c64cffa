// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Lineage says to which cluster a pod or claim belongs: the current cluster, the cluster before a restore, or an
// unfinished restore. The serial number in the name shows this, because a restore gets a higher serial than all members
// before it.
type Lineage int

const (
	// Current members belong to the current cluster.
	Current Lineage = iota
	// Former members belong to the cluster that a restore has replaced.
	Former
	// OfSeed is the lineage of the seed: the first member of a restore that is in progress or was canceled.
	OfSeed
)

// LineageOf derives from a member's name which cluster the member belongs to: the current one, one from before a
// restore, or one that is still being restored.
func LineageOf(c *etcdv1beta2.EtcdCluster, name string) Lineage {
	at := c.Status.Restore
	if at == nil {
		return Current
	}
	serial := SerialOf(SerialsBelow(c, max(at.Serial, c.Status.Serial)+SerialsAhead), name)
	switch {
	case serial < 0:
		return Current
	// The member is older than the last completed restore. A later restore may have started or been canceled.
	case serial < at.Began():
		return Former
	case at.Phase != etcdv1beta2.PhaseRestored && serial == at.Serial:
		return OfSeed
	}
	return Current
}

// CountVoters returns the number of members that vote.
func CountVoters(membership []etcdv1beta2.MemberIdentity) int32 {
	n := int32(0)
	for _, m := range membership {
		if !m.Learner {
			n++
		}
	}
	return n
}
