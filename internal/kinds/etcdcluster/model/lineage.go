// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Lineage is the cluster that a pod or claim has data of: the current one, the one before a restore, or an unfinished
// or canceled restore. The serial in its name shows it, and no one can change the name. Serials are unique; the serial
// of a restore is higher than all earlier serials.
type Lineage int

const (
	// Current members belong to the current cluster.
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
	case serial < at.Began(): // also while another restore is running, and after it was canceled
		return Former
	case at.Phase != etcdv1beta2.PhaseRestored && serial == at.Serial:
		return OfSeed
	}
	return Current
}

// CountVoters returns how many members of a membership vote.
func CountVoters(membership []etcdv1beta2.MemberIdentity) int32 {
	n := int32(0)
	for _, m := range membership {
		if !m.Learner {
			n++
		}
	}
	return n
}
