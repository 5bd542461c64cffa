// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Lineage is which data a pod or claim is of: the cluster's as it is, as it was before a restore, or
// that of a restore which is not done or was called off.
//
// Its name shows it, which no one can change: each name is made of a serial that no other has, and the serial of a restore
// is higher than all before.
type Lineage int

const (
	// Current members belong to the present cluster.
	Current Lineage = iota
	// Former members belong to the cluster before a restore.
	Former
	// OfSeed is the first member of a cluster that is being restored.
	OfSeed
)

// LineageOf returns the lineage of a member by its name.
func LineageOf(c *etcdv1beta2.EtcdCluster, name string) Lineage {
	at := c.Status.Restore
	if at == nil {
		return Current
	}
	serial := SerialOf(SerialsBelow(c, max(at.Serial, c.Status.Serial)+SerialsAhead), name)
	switch {
	case serial < 0:
		return Current
	case serial < at.Began(): // also while another restore goes on, and when that is called off
		return Former
	case at.Phase != etcdv1beta2.PhaseRestored && serial == at.Serial:
		return OfSeed
	}
	return Current
}

// CountVoters is how many members of a membership vote.
func CountVoters(membership []etcdv1beta2.MemberIdentity) int32 {
	n := int32(0)
	for _, m := range membership {
		if !m.Learner {
			n++
		}
	}
	return n
}
