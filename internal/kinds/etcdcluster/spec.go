// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"slices"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/rollout"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
)

// checkSpec returns why opcrew cannot carry out the spec (nil if it can), and the version that members change to next
// (empty if they keep their version).
func checkSpec(c *etcdv1beta2.EtcdCluster, unsafe, tls *model.Obstacle, members []model.Member) (invalid *model.Obstacle, target string) {
	if c.Spec.Size < 1 || c.Spec.Size > 7 {
		return model.NewObstacle(etcdv1beta2.ReasonInvalidSpec, fmt.Sprintf("spec.size: a cluster cannot have %d members; use 1 to 7", c.Spec.Size)), ""
	}
	if _, err := versions.Parse(versions.Desired(c)); err != nil {
		return model.NewObstacle(etcdv1beta2.ReasonInvalidSpec, "spec."+err.Error()), ""
	}
	for _, obstacle := range []*model.Obstacle{unsafe, tls} {
		if obstacle != nil {
			return obstacle, ""
		}
	}
	low := rollout.Lowest(members)
	if c.Status.ClusterID == "" || low == "" || low == versions.Desired(c) && allOf(members, low) {
		return nil, ""
	}
	to, err := versions.Next(low, versions.Desired(c), c.Spec.UpgradePath)
	if err != nil {
		return model.NewObstacle(etcdv1beta2.ReasonImpossibleVersion, err.Error()), ""
	}
	podGone := func(m model.Member) bool { return m.Pod == nil }
	if !allOf(members, to) || low != to && slices.ContainsFunc(members, podGone) {
		return nil, to // a missing pod is recreated with the version that it last ran, and then upgraded
	}
	return nil, ""
}

// allOf reports whether all existing pods have this version.
func allOf(members []model.Member, version string) bool {
	return !slices.ContainsFunc(members, func(m model.Member) bool { return m.Pod != nil && model.VersionOf(m.Pod) != version })
}
