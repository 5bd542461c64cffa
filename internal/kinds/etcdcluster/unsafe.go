// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/guard/podsecurity"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// unsafe returns the rule of the Pod Security Standard that pods of this spec would break; nil if there is none. opcrew
// checks this before it adds a member or deletes a pod. Otherwise the API server might refuse the new pod, and a member
// would be missing.
func unsafe(standards *podsecurity.Guard, c *etcdv1beta2.EtcdCluster) (*model.Obstacle, error) {
	if c.Spec.Pod == nil || c.Spec.Pod.SecurityContext == nil && len(c.Spec.Pod.Annotations) == 0 {
		return nil, nil
	}
	broken, err := standards.Broken(guard.Restricted, build.Security(c))
	if err != nil || len(broken) == 0 {
		return nil, err
	}
	return model.NewObstacle(common.ReasonPodSecurityViolation,
		"spec.pod: pods would break the restricted Pod Security Standard: "+strings.Join(broken, ". ")), nil
}

// observeRights checks whether opcrew may create the next pod that gets new settings, for example whether the requester
// may use a Secret in the spec. While all pods have the current settings, no pod will use a new object, so nothing has
// to be checked.
func observeRights(ctx context.Context, children *ensure.Applier, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if f.unsafe != nil || model.Restoring(c) {
		return nil
	}
	members := f.members(c)
	i := slices.IndexFunc(members, func(m model.Member) bool { return m.Pod != nil && m.Outdated })
	if i < 0 {
		return nil
	}
	next := members[i]
	pod := f.builder(c).Pod(next, members, model.VersionOf(next.Pod))
	denied, err := children.Objection(ctx, c, ensure.Child{Object: pod, Once: true}, next.Pod)
	if denied != nil {
		f.unsafe, f.unsafeAgain = model.NewObstacle(denied.Reason, denied.Message), denied.Again
	}
	return err
}

// keepsSize reports whether a problem prevents opcrew from creating pods for new members, so that the number of members
// must stay unchanged.
func keepsSize(invalid *model.Obstacle) bool {
	return invalid != nil && slices.Contains([]string{
		etcdv1beta2.ReasonInvalidSpec, common.ReasonPodSecurityViolation, common.ReasonRequesterMayNot, common.ReasonRequesterUnknown,
	}, invalid.Reason)
}
