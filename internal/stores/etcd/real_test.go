// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// within repeats a call until it succeeds. It fails the test after a minute, or after an error that is not temporary.
func within(t *testing.T, what string, passing func(error) bool, call func(context.Context) error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := call(ctx)
		cancel()
		if err == nil {
			return
		}
		if !passing(err) || time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func whatever(error) bool { return true }

func refusedBy(refusals ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) })
	}
}

func dialAll(t *testing.T, servers ...*server) etcd.Store {
	t.Helper()
	store, err := etcd.Dial(targetOf(servers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// members waits until the cluster has the given number of members (all), and the given number of them (started) has
// started.
func members(t *testing.T, store etcd.Store, all, started int) (uint64, []etcd.Member) {
	t.Helper()
	var id uint64
	var members []etcd.Member
	within(t, fmt.Sprintf("list %d members, %d started", all, started), whatever, func(ctx context.Context) (err error) {
		if id, members, err = store.Members(ctx); err != nil {
			return err
		}
		n := 0
		for _, m := range members {
			if m.Started() {
				n++
			}
		}
		if len(members) != all || n != started {
			return fmt.Errorf("got %+v", members)
		}
		return nil
	})
	return id, members
}

func TestARealClusterGrowsAndShrinksByOneMember(t *testing.T) {
	a, b := newServer(t, "a"), newServer(t, "b")
	a.start(t, "new", a)
	store := dialAll(t, b, a) // member b is not running yet, and must not delay any call
	_, first := members(t, store, 1, 1)
	growReal(t, store, a, b, first[0])
	agreeReal(t, store, a, b)
	shrinkReal(t, store, a, b)
}

func growReal(t *testing.T, store etcd.Store, a, b *server, first etcd.Member) {
	t.Helper()
	if want := etcd.BootstrapID([]string{a.peer}, "tok"); first.ID != want || first.Name != "a" || !slices.Equal(first.ClientURLs, []string{a.client}) {
		t.Errorf("expected member %x, got %+v", want, first)
	}
	joined := addLearner(t, store, b)
	b.start(t, "existing", a, b)
	id, both := members(t, store, 2, 2)
	within(t, "promote", refusedBy(etcd.ErrLearnerNotReady, etcd.ErrUnhealthy), func(ctx context.Context) error { return store.Promote(ctx, joined.ID) })
	notLearner := func(ctx context.Context) error {
		if err := store.Promote(ctx, joined.ID); !errors.Is(err, etcd.ErrNotLearner) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	}
	within(t, "refuse to promote a voter", refusedBy(etcd.ErrLearnerNotReady), notLearner)
	for _, m := range both {
		var status etcd.MemberStatus
		within(t, "status of "+m.Name, whatever, func(ctx context.Context) (err error) {
			status, err = store.Status(ctx, m.ClientURLs[0])
			return err
		})
		if status.ID != m.ID || status.ClusterID != id || status.Leader != first.ID || status.Version == "" || status.DBSize == 0 {
			t.Errorf("expected the status of %s, got %+v", m.Name, status)
		}
	}
}

// agreeReal waits until all given members report the agreed cluster version.
func agreeReal(t *testing.T, store etcd.Store, both ...*server) {
	t.Helper()
	for _, s := range both {
		status, err := store.Status(t.Context(), s.client)
		if err != nil {
			t.Fatal(err)
		}
		want := spoken(status.Version)
		within(t, s.name+" reports that the cluster speaks "+want, whatever, func(ctx context.Context) error {
			said, err := store.ClusterVersion(ctx, s.client)
			if err == nil && said != want {
				return fmt.Errorf("got %q", said)
			}
			return err
		})
	}
}

// spoken returns the cluster version that members agree on if all of them run the given version.
func spoken(version string) string {
	parts := strings.Split(version, ".")
	return strings.Join(append(parts[:len(parts)-1], "0"), ".")
}

func shrinkReal(t *testing.T, store etcd.Store, a, b *server) {
	t.Helper()
	_, both := members(t, store, 2, 2)
	slices.SortFunc(both, func(a, b etcd.Member) int { return cmp.Compare(a.Name, b.Name) })
	first, joined := both[0], both[1]
	within(t, "move the leader", whatever, func(ctx context.Context) error { return store.MoveLeader(ctx, a.client, joined.ID) })
	if err := store.MoveLeader(t.Context(), a.client, joined.ID); !errors.Is(err, etcd.ErrNotLeader) {
		t.Errorf("expected a follower not to hand over the lead, got %v", err)
	}
	if status, err := store.Status(t.Context(), b.client); err != nil || status.Leader != joined.ID {
		t.Errorf("expected b to lead, got %+v, %v", status, err)
	}
	within(t, "remove", refusedBy(etcd.ErrUnhealthy), func(ctx context.Context) error { return store.Remove(ctx, first.ID) })
	_, last := members(t, store, 1, 1)
	if err := store.Remove(t.Context(), first.ID); !errors.Is(err, etcd.ErrMemberNotFound) {
		t.Errorf("expected what is removed not to be found, got %v", err)
	}
	if last[0].ID != joined.ID || last[0].Learner {
		t.Errorf("expected b to be left, got %+v", last)
	}
}

func addLearner(t *testing.T, store etcd.Store, s *server) etcd.Member {
	t.Helper()
	joined, err := store.AddLearner(t.Context(), s.peer)
	if err != nil || !joined.Learner || joined.Started() || !slices.Equal(joined.PeerURLs, []string{s.peer}) {
		t.Fatalf("expected a learner, got %+v, %v", joined, err)
	}
	for peer, want := range map[string]error{s.peer: etcd.ErrPeerURLExists, "http://127.0.0.1:1": etcd.ErrTooManyLearners} {
		if _, err := store.AddLearner(t.Context(), peer); !errors.Is(err, want) {
			t.Errorf("expected %v, got %v", want, err)
		}
	}
	if err := store.Promote(t.Context(), joined.ID); !errors.Is(err, etcd.ErrLearnerNotReady) {
		t.Errorf("expected a learner that does not run not to be ready, got %v", err)
	}
	if err := store.Promote(t.Context(), 42); !errors.Is(err, etcd.ErrMemberNotFound) {
		t.Errorf("expected no such member, got %v", err)
	}
	return joined
}

func TestAProberSeesARealClusterLoseItsQuorumAndGetItBack(t *testing.T) {
	servers := []*server{newServer(t, "a"), newServer(t, "b"), newServer(t, "c")}
	p := etcd.NewProber(etcd.Dial, clock.RealClock{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Start(ctx) }()
	p.Watch(shop, targetOf(servers...))
	for _, s := range servers {
		s.start(t, "new", servers...)
	}
	begun := time.Now()
	seen := func(what string, is func(etcd.View) bool) etcd.View {
		t.Helper()
		within(t, what, whatever, func(context.Context) error {
			if v, _ := p.View(shop); !is(v) {
				return fmt.Errorf("got %+v", v)
			}
			return nil
		})
		t.Logf("%s: after %s", what, time.Since(begun).Round(10*time.Millisecond))
		begun = time.Now()
		return view(t, p, shop)
	}
	all := func(v etcd.View) bool { return v.HealthyVoters() == 3 && v.HasQuorum() && len(v.Absent) == 0 }
	v := seen("three healthy members", all)
	seen("what they speak", func(v etcd.View) bool {
		for _, status := range v.Status {
			if v.ClusterVersion != spoken(status.Version) {
				return false
			}
		}
		return v.VersionErr == nil
	})

	servers[1].stop()
	seen("one is gone", func(v etcd.View) bool { return v.HealthyVoters() == 2 && v.HasQuorum() })
	servers[2].stop()
	lost := seen("two are gone", func(v etcd.View) bool {
		return errors.Is(v.Err, context.DeadlineExceeded) && len(v.Members) == 3
	})
	a, _ := v.ByName("a")
	if lost.HasQuorum() || lost.Status[a.ID].Err != nil {
		t.Errorf("expected to see that a is up, got %+v", lost)
	}
	servers[1].start(t, "new", servers...)
	servers[2].start(t, "new", servers...)
	seen("three again", all)

	leader, _ := view(t, p, shop).Leader()
	others := slices.DeleteFunc(view(t, p, shop).Voters(), func(m etcd.Member) bool { return m.ID == leader })
	slices.SortFunc(others, func(a, b etcd.Member) int { return cmp.Compare(a.Name, b.Name) })
	lead, _ := view(t, p, shop).Member(leader)
	err := p.Do(t.Context(), shop, func(ctx context.Context, store etcd.Store) error {
		return store.MoveLeader(ctx, lead.ClientURLs[0], others[0].ID)
	})
	if err != nil {
		t.Error(err)
	}
	seen("another leader", func(v etcd.View) bool { id, _ := v.Leader(); return id == others[0].ID && !v.Stale })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
