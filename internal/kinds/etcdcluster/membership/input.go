// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Input holds what the rules of this package need for their decisions.
type Input struct {
	Now     time.Time
	View    etcd.View
	Members []model.Member
	// Size is the desired number of members.
	Size int32
	// KeepSize is true if the spec is invalid. The number of members then stays unchanged.
	KeepSize bool
	// Surge is true if a successor may be added although the cluster already has Size members.
	Surge bool
	// Add is the step that adds the next member.
	Add *steps.Step
	// Paused is true if the cluster is paused; opcrew then recreates no pods.
	Paused bool
}

type rule = func(*Input) steps.Verdict

func (in *Input) count() int32 { return int32(len(in.Members)) }

// supersedes reports whether some voter must be replaced by a new member.
func (in *Input) supersedes() bool {
	return slices.ContainsFunc(in.Members, func(m model.Member) bool { return m.Voter() && m.Superseded })
}
