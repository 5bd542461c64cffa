// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

func TestChangesThatCouldCostTheQuorumAreRefused(t *testing.T) {
	w := formed("a", "b", "c")
	w.Stop("c")
	store := dial(t, w, "a", "b", "c")
	_, err := store.AddLearner(t.Context(), peerURL("d"))
	expect(t, err, etcd.ErrUnhealthy)
	expect(t, store.Remove(t.Context(), id(t, w, "b")), etcd.ErrUnhealthy)
	c := id(t, w, "c")
	expect(t, store.Remove(t.Context(), c), nil)
	expect(t, store.Remove(t.Context(), c), etcd.ErrMemberNotFound)
	_, err = store.AddLearner(t.Context(), peerURL("d"))
	expect(t, err, nil)
}

func TestAVoterThatHasYetToRunTakesTheQuorumOfASingleMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := formed("a")
		store := dial(t, w, "a")
		_, err := store.AddVoter(t.Context(), peerURL("b"))
		expect(t, err, nil)
		_, _, err = store.Members(within(t))
		expect(t, err, context.DeadlineExceeded)
		w.Run(pod("b", true, "a", "b"))
		list(t, store)
	})
}

func TestWithoutAQuorumMembersReportTheirStatusAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := formed("a", "b", "c")
		w.Stop("b")
		w.Hang("c")
		store := dial(t, w, "a", "b", "c")
		_, _, err := store.Members(within(t))
		expect(t, err, context.DeadlineExceeded)
		expect(t, store.Remove(within(t), id(t, w, "b")), context.DeadlineExceeded)
		status, err := store.Status(t.Context(), clientURL("a"))
		if err != nil || status.Leader != 0 || len(status.Errors) != 1 {
			t.Errorf("expected a status without a leader, got %v, %v", status, err)
		}
		_, err = store.Status(t.Context(), clientURL("b"))
		expect(t, err, errRefused)
		_, err = store.Status(within(t), clientURL("c"))
		expect(t, err, context.DeadlineExceeded)
		w.Wake("c")
		list(t, store)
	})
}

func TestALeaderMovesOnDemandOrWhenItEnds(t *testing.T) {
	w := formed("a", "b", "c")
	store := dial(t, w, "a", "b", "c")
	leads := func(name string) uint64 {
		status, err := store.Status(t.Context(), clientURL(name))
		expect(t, err, nil)
		return status.Leader
	}
	leader, follower := "a", "b"
	for _, name := range []string{"a", "b", "c"} {
		if id(t, w, name) == leads(name) {
			leader = name
		} else {
			follower = name
		}
	}
	to := id(t, w, follower)
	expect(t, store.MoveLeader(t.Context(), clientURL(follower), to), etcd.ErrNotLeader)
	expect(t, store.MoveLeader(t.Context(), clientURL(leader), to), nil)
	if leads(leader) != to {
		t.Errorf("expected %s to lead, got %d", follower, leads(leader))
	}
	w.Stop(follower)
	if got := leads(leader); got == 0 || got == to {
		t.Errorf("expected another leader than %d, got %d", to, got)
	}
}
