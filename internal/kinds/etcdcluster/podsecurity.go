// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/guard/podsecurity"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// unsafe returns the rule of the Pod Security Standard that pods of this spec would break; nil if none. opcrew checks
// this before it adds a member or deletes a pod: otherwise the new pod could be refused after that.
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

// keepsSize reports whether a problem prevents pods of new members, so that the number of members must stay unchanged.
func keepsSize(invalid *model.Obstacle) bool {
	return invalid != nil && (invalid.Reason == etcdv1beta2.ReasonInvalidSpec || invalid.Reason == common.ReasonPodSecurityViolation)
}
