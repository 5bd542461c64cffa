// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// blockers lists the conditions that can keep Ready from being True, the most important first. The first of them that
// applies gives Ready its reason.
var blockers = append(slices.Clone(serving), condition.Unless(etcdv1beta2.EtcdClusterUpToDate))

// serving lists the blockers that concern clients or their data.
var serving = []condition.Blocker{
	condition.Unless(etcdv1beta2.EtcdClusterChildrenReady),
	condition.WhenFalse(etcdv1beta2.EtcdClusterTLSReady),
	condition.Unless(etcdv1beta2.EtcdClusterAvailable),
	condition.Unless(etcdv1beta2.EtcdClusterMembersReady),
	condition.WhenTrue(common.ConditionProtectionMissing),
}

// reporter computes the status from what was read and decided.
type reporter struct {
	facts
	c *etcdv1beta2.EtcdCluster
	d decision
}
