// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"errors"
	"fmt"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// step is one change of the membership or of the lead, with what it rests on.
type step struct {
	name string
	// about is the member that it is done to; nil for an addition.
	about *member
	// reason and note tell users of it; without a reason no one is told.
	reason, note string
	// confirm has the pod and the claim of the member read again before it is done.
	confirm bool
	// costs: it takes a voter away, so the others are asked again how they are.
	costs bool
	do    func(context.Context, etcd.Store) error
	// begin is what is done instead where that may take longer than a step may.
	begin func(*reconciler, *etcdv1beta2.EtcdCluster) etcd.Work
}

// remove takes a member out for good.
func remove(m member, why string) *step {
	return &step{
		name: "remove member " + m.name, about: &m, confirm: m.lost != "", costs: m.voter(),
		reason: "MemberRemoved", note: fmt.Sprintf("Member %s (%016x) is taken out: %s", m.name, m.id, why),
		do: func(ctx context.Context, store etcd.Store) error {
			if err := store.Remove(ctx, m.id); !errors.Is(err, etcd.ErrMemberNotFound) {
				return err
			}
			return nil
		},
	}
}

// add has the cluster expect a member. That it was added already by a call whose answer was
// lost is seen by its peer URL, which no other member ever has.
func add(name, url string, learner bool) *step {
	return &step{
		name: "add member " + name, reason: "MemberAdded", note: fmt.Sprintf("Member %s is added", name),
		do: func(ctx context.Context, store etcd.Store) error {
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

// promote gives a learner a vote. One that lags behind is tried again with the next look.
func promote(m member) *step {
	return &step{
		name: "promote member " + m.name, about: &m, reason: "MemberPromoted", note: fmt.Sprintf("Member %s votes from now on", m.name),
		do: func(ctx context.Context, store etcd.Store) error {
			err := store.Promote(ctx, m.id)
			if errors.Is(err, etcd.ErrNotLearner) {
				return nil
			}
			return err
		},
	}
}

// handOver has the leader hand over the lead, so that what is done to it costs no election.
func handOver(from, to member) *step {
	return &step{
		name: "move the lead to " + to.name, about: &from, reason: "LeaderMoved", note: fmt.Sprintf("The lead goes from %s to %s", from.name, to.name),
		do: func(ctx context.Context, store etcd.Store) error {
			if err := store.MoveLeader(ctx, from.client, to.id); !errors.Is(err, etcd.ErrNotLeader) {
				return err
			}
			return nil
		},
	}
}
