// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Remove returns the step that removes a member for good. The step also succeeds if the member is already gone.
func Remove(m model.Member, why string) *Step {
	return &Step{
		Name: "remove member " + m.Name, About: &m, Confirm: m.Lost != "", CostsVoter: m.Voter(),
		Reason: "MemberRemoved", Note: fmt.Sprintf("opcrew removed member %s (%016x): %s", m.Name, m.ID, why),
		Do: func(ctx context.Context, store etcd.Store) error {
			if err := store.Remove(ctx, m.ID); !errors.Is(err, etcd.ErrMemberNotFound) {
				return err
			}
			return nil
		},
	}
}

// Add returns the step that adds a member. Each member has a unique peer URL. If etcd's answer is lost and opcrew
// repeats the step, etcd reports that the peer URL exists, which counts as success.
func Add(name, url string, learner bool) *Step {
	return &Step{
		Name: "add member " + name, Reason: "MemberAdded", Note: fmt.Sprintf("opcrew added member %s", name),
		Do: func(ctx context.Context, store etcd.Store) error {
			call := store.AddLearner
			if !learner {
				call = store.AddVoter
			}
			if _, err := call(ctx, url); !errors.Is(err, etcd.ErrPeerURLExists) {
				return err
			}
			return nil
		},
	}
}

// Promote returns the step that makes a learner a voter. etcd refuses a learner that lags behind; the step is then
// retried.
func Promote(m model.Member) *Step {
	return &Step{
		Name: "promote member " + m.Name, About: &m, Reason: "MemberPromoted", Note: fmt.Sprintf("opcrew promoted member %s to a voter", m.Name),
		Do: func(ctx context.Context, store etcd.Store) error {
			err := store.Promote(ctx, m.ID)
			if errors.Is(err, etcd.ErrNotLearner) {
				return nil
			}
			return err
		},
	}
}

// MoveLeader returns the step that makes another member the leader, so that the next change of the current leader needs
// no election.
func MoveLeader(from, to model.Member) *Step {
	return &Step{
		Name: "move the leadership to " + to.Name, About: &from, Reason: "LeaderMoved", Note: fmt.Sprintf("opcrew moved the leadership from %s to %s", from.Name, to.Name),
		Do: func(ctx context.Context, store etcd.Store) error {
			if err := store.MoveLeader(ctx, from.Client, to.ID); !errors.Is(err, etcd.ErrNotLeader) {
				return err
			}
			return nil
		},
	}
}

// ReplaceCorrupt returns the step that removes a member with corrupt data, if etcd still raises the alarm CORRUPT.
func ReplaceCorrupt(m model.Member) *Step {
	s := Remove(m, "its data differs from that of the majority (alarm CORRUPT)")
	take := s.Do
	// The member is removed although it runs, so opcrew does not check that its pod and its volume are lost.
	s.Confirm = false
	s.Do = func(ctx context.Context, store etcd.Store) error {
		status, err := store.Status(ctx, m.Client)
		if err == nil && !slices.ContainsFunc(status.Alarms(), func(a etcd.Alarm) bool { return a.Kind == etcd.AlarmCorrupt }) {
			return ErrChanged
		}
		return take(ctx, store)
	}
	return s
}
