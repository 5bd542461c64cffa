// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package upkeep

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Input holds everything on which the rules of this package base their decisions.
type Input struct {
	Now     time.Time
	View    etcd.View
	Members []model.Member
	// History is what opcrew did to the data earlier.
	History steps.History
	// Spec is spec.upkeep; it is never nil.
	Spec *etcdv1beta2.Upkeep
	// Env holds the environment variables for etcd in the spec.
	Env []etcdv1beta2.EnvVar
	// Claims are the members' claims that have a volume.
	Claims []*corev1.PersistentVolumeClaim
}

func (in *Input) allWell() bool {
	for _, m := range in.Members {
		if !m.Well() {
			return false
		}
	}
	return true
}

// heals reports whether opcrew frees space itself if a member is out of space.
func (in *Input) heals() bool { return in.Spec.NoSpace != etcdv1beta2.NoSpaceReport }

// keepRevisions returns how many of the latest revisions a compaction keeps.
func (in *Input) keepRevisions() int64 {
	if keep := in.Spec.KeepRevisions; keep != nil {
		return max(0, *keep)
	}
	return etcdv1beta2.DefaultKeepRevisions
}
