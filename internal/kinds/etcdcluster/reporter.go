// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// blockers are the conditions that can keep Ready from being True. The first one that does, in this order, is Ready's
// reason.
var blockers = append(slices.Clone(serving), condition.Unless(etcdv1beta2.EtcdClusterUpToDate))

// serving holds the blockers that affect clients or their data.
var serving = []condition.Blocker{
	condition.Unless(etcdv1beta2.EtcdClusterChildrenReady),
	condition.WhenFalse(etcdv1beta2.EtcdClusterTLSReady),
	condition.Unless(etcdv1beta2.EtcdClusterAvailable),
	condition.Unless(etcdv1beta2.EtcdClusterMembersReady),
	condition.WhenTrue(common.ConditionProtectionMissing),
}

// reporter reports what was observed and decided.
type reporter struct {
	facts
	c *etcdv1beta2.EtcdCluster
	d decision
}
