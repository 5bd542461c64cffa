// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

func peerURL(name string) string   { return "http://" + name + ":2380" }
func clientURL(name string) string { return "http://" + name + ":2379" }

// pod is the process of a pod that has a volume of its own name.
func pod(name string, existing bool, initial ...string) Process {
	var flag []string
	for _, n := range initial {
		flag = append(flag, n+"="+peerURL(n))
	}
	return Process{
		Name: name, PeerURL: peerURL(name), ClientURL: clientURL(name), Volume: name,
		InitialCluster: strings.Join(flag, ","), Token: "t", Existing: existing,
	}
}

// formed is a world with a cluster of those names.
func formed(names ...string) *World {
	w := &World{}
	for _, name := range names {
		w.Run(pod(name, false, names...))
	}
	return w
}

func dial(t *testing.T, w *World, names ...string) etcd.Store {
	t.Helper()
	var target etcd.Target
	for _, name := range names {
		target.Endpoints = append(target.Endpoints, clientURL(name))
	}
	store, err := w.Dial(target)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func list(t *testing.T, store etcd.Store) []etcd.Member {
	t.Helper()
	_, members, err := store.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return members
}

// id is that of the member with a name, or, before it has one, a peer URL.
func id(t *testing.T, w *World, name string) uint64 {
	t.Helper()
	for _, m := range w.Members("t") {
		if m.PeerURLs[0] == peerURL(name) {
			return m.ID
		}
	}
	t.Fatalf("expected a member %s among %v", name, w.Members("t"))
	return 0
}

func expect(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("expected error %v, got %v", want, err)
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestAClusterFormsWhenAQuorumOfItsFirstMembersRuns(t *testing.T) {
	w := &World{}
	names := []string{"a", "b", "c"}
	w.Run(pod("a", false, names...))
	if _, _, err := dial(t, w, names...).Members(t.Context()); !errors.Is(err, errRefused) || w.Serving("a") {
		t.Errorf("expected one of three not to serve, got %v", err)
	}
	w.Run(pod("b", false, names...))
	members := list(t, dial(t, w, names...))
	if len(members) != 3 || !w.Serving("a") || !w.Serving("b") || w.Serving("c") {
		t.Errorf("expected a cluster of three of which two serve, got %v", members)
	}
	for _, m := range members {
		if m.ID != etcd.BootstrapID(m.PeerURLs, "t") || m.Started() != (m.Name != "c") {
			t.Errorf("expected etcd's id, and c not to have started, got %v", m)
		}
	}
}

func TestAClusterGrowsByLearnersOneAtATime(t *testing.T) {
	w := formed("a")
	w.LearnerLooks = 2
	store := dial(t, w, "a")
	added, err := store.AddLearner(t.Context(), peerURL("b"))
	expect(t, err, nil)
	_, err = store.AddLearner(t.Context(), peerURL("b"))
	expect(t, err, etcd.ErrPeerURLExists)
	_, err = store.AddLearner(t.Context(), peerURL("c"))
	expect(t, err, etcd.ErrTooManyLearners)
	expect(t, store.Promote(t.Context(), added.ID), etcd.ErrLearnerNotReady)
	w.Run(pod("b", true, "a", "b"))
	list(t, store)
	expect(t, store.Promote(t.Context(), added.ID), etcd.ErrLearnerNotReady)
	list(t, store)
	expect(t, store.Promote(t.Context(), added.ID), nil)
	expect(t, store.Promote(t.Context(), added.ID), etcd.ErrNotLearner)
	want := []string{"AddLearner http://b:2380", "Promote http://b:2380"}
	if got := w.Changes("t"); !slices.Equal(got, want) {
		t.Errorf("expected %v, got %v", want, got)
	}
}

func TestMembersAreReachedAndJoinByNamesWithTheDomainOfTheCluster(t *testing.T) {
	w := formed("a.db.shop.svc")
	domain := func(name string) string { return name + ".db.shop.svc.cluster.local" }
	store := dial(t, w, domain("a"))
	_, err := store.AddLearner(t.Context(), peerURL(domain("b")))
	expect(t, err, nil)
	w.Run(pod(domain("b"), true, domain("a"), domain("b")))
	if members := list(t, store); len(members) != 2 || !w.Serving(domain("b")) {
		t.Errorf("expected b to join a by its longer name, got %v", members)
	}
	_, _, err = dial(t, w, "a.db.shop.svc.elsewhere").Members(t.Context())
	expect(t, err, errRefused)
}

func TestALearnerThatWasAskedPassesTheQuestionToAVoter(t *testing.T) {
	w := formed("a")
	_, err := dial(t, w, "a").AddLearner(t.Context(), peerURL("b"))
	expect(t, err, nil)
	w.Run(pod("b", true, "a", "b"))
	list(t, dial(t, w, "b", "a"))
	if _, _, err := dial(t, w, "b").Members(t.Context()); err == nil {
		t.Error("expected a learner to list no members")
	}
	status, err := dial(t, w, "b").Status(t.Context(), clientURL("b"))
	if err != nil || !status.Learner {
		t.Errorf("expected the status of a learner, got %v, %v", status, err)
	}
}

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

func TestWithoutAQuorumMembersTellTheirStatusAndNothingElse(t *testing.T) {
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

func TestALeaderMovesWhenItIsToldToOrEnds(t *testing.T) {
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

func TestAMemberThatIsRestartedOnItsVolumeIsTheSame(t *testing.T) {
	w := formed("a", "b", "c")
	w.Stop("b")
	w.Run(pod("b", true, "a", "b", "c"))
	if !w.Serving("b") || len(w.Violations()) != 0 {
		t.Errorf("expected b to serve again, got %q and %v", w.Reason("b"), w.Violations())
	}
}

func TestAMemberThatLosesItsVolumeIsAViolationOnceClientsCame(t *testing.T) {
	for _, served := range []bool{true, false} {
		w := formed("a", "b", "c")
		if served {
			w.Serve("a")
		}
		w.Stop("b")
		w.Run(wiped("b", true))
		want := []string{"member b came back with an empty volume"}
		if !served {
			want = nil
		}
		if got := w.Violations(); !slices.Equal(got, want) {
			t.Errorf("clients came %t: expected %v, got %v", served, want, got)
		}
	}
}

func TestAFirstMemberBeginsOnceMoreOnlyWhenNoneIsThereThatKnowsIt(t *testing.T) {
	w := formed("a", "b")
	w.Stop("b")
	w.Run(wiped("b", false))
	if got := w.Reason("b"); !strings.Contains(got, "has already been bootstrapped") || w.Serving("b") {
		t.Errorf("expected etcd not to start, got %q", got)
	}
	w.Stop("a")
	w.Run(wiped("a", false))
	if !w.Serving("a") || !w.Serving("b") {
		t.Errorf("expected both to begin, got %q and %q", w.Reason("a"), w.Reason("b"))
	}
}

// wiped is a process with another volume than before.
func wiped(name string, existing bool) Process {
	all := []string{"a", "b", "c"}
	if !existing {
		all = all[:2]
	}
	p := pod(name, existing, all...)
	p.Volume = "new " + name
	return p
}

func TestASecondClusterUnderOneTokenIsAViolation(t *testing.T) {
	w := formed("a", "b", "c")
	w.Run(pod("d", false, "d"))
	if got := w.Violations(); !slices.Equal(got, []string{"a second cluster formed under the token t"}) {
		t.Errorf("expected a violation, got %v", got)
	}
}

func TestWhoIsNotInTheListDoesNotJoin(t *testing.T) {
	w := formed("a", "b", "c")
	b := id(t, w, "b")
	for name, test := range map[string]struct {
		process Process
		want    string
	}{
		"not added":              {pod("d", true, "a", "b", "c", "d"), "it cannot fetch the members from its peers"},
		"not in its own cluster": {pod("d", true, "a", "b", "c"), "it is not in its own initial cluster"},
	} {
		w.Run(test.process)
		if got := w.Reason("d"); got != test.want || w.Serving("d") {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
	store := dial(t, w, "a", "c")
	expect(t, store.Remove(t.Context(), b), nil)
	if got := w.Reason("b"); got != "the member has been permanently removed from the cluster" || w.Serving("b") {
		t.Errorf("expected b to have ended, got %q", got)
	}
	_, err := store.AddLearner(t.Context(), peerURL("d"))
	expect(t, err, nil)
	w.Run(pod("d", true, "a", "b", "c", "d"))
	if got := w.Reason("d"); got != "its initial cluster is not the list of members" {
		t.Errorf("expected another list to be refused, got %q", got)
	}
	w.Run(pod("d", true, "a", "c", "d"))
	if !w.Serving("d") {
		t.Errorf("expected d to serve, got %q", w.Reason("d"))
	}
}

func TestFaultsStrikeAsOftenAsTheyAreAskedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := formed("a")
		store := dial(t, w, "a")
		broken := fmt.Errorf("broken")
		w.Break(Fault{Call: "Members", Err: broken, Times: 2})
		for range 2 {
			_, _, err := store.Members(t.Context())
			expect(t, err, broken)
		}
		list(t, store)
		w.Break(Fault{Call: "AddLearner", Process: "a", After: true})
		_, err := store.AddLearner(within(t), peerURL("b"))
		expect(t, err, context.DeadlineExceeded)
		if got := list(t, store); len(got) != 2 {
			t.Errorf("expected the learner to be there for all that, got %v", got)
		}
		w.Break(Fault{Call: "Status", Process: "b"})
		w.Break(Fault{Call: "Remove"})
		w.Mend()
		_, err = store.Status(t.Context(), clientURL("a"))
		expect(t, err, nil)
	})
}

// runs is a process that is started again with another version.
func runs(w *World, version string, names ...string) {
	for _, name := range names {
		p := pod(name, false, "a", "b", "c")
		p.Version = version
		w.Run(p)
	}
}

func TestAClusterSpeaksTheLowestMinorVersionSomeLooksAfterAllRunIt(t *testing.T) {
	w := &World{VersionLooks: 2}
	for _, name := range []string{"a", "b", "c"} {
		w.Run(pod(name, false, "a", "b", "c"))
	}
	store := dial(t, w, "a", "b", "c")
	speaks := func(when, want string) {
		t.Helper()
		for _, name := range []string{"a", "b"} {
			if got, err := store.ClusterVersion(t.Context(), clientURL(name)); err != nil || got != want {
				t.Errorf("%s: expected the cluster to speak %q, got %q, %v", when, want, got, err)
			}
		}
	}
	speaks("before the first look", "")
	list(t, store)
	list(t, store)
	speaks("after two looks", "3.6.0")
	runs(w, "3.7.3", "a", "b")
	list(t, store)
	list(t, store)
	speaks("while one still runs the old one", "3.6.0")
	w.Stop("c")
	list(t, store)
	list(t, store)
	speaks("while one does not run", "3.6.0")
	runs(w, "3.7.0", "c")
	list(t, store)
	speaks("just after the last has come up", "3.6.0")
	list(t, store)
	speaks("two looks later", "3.7.0")
	_, err := store.ClusterVersion(t.Context(), clientURL("d"))
	expect(t, err, errRefused)
	if got := w.Violations(); len(got) != 0 {
		t.Errorf("expected no violation, got %v", got)
	}
}

func TestAMemberTwoMinorVersionsAheadOfItsClusterIsAViolation(t *testing.T) {
	w := formed("a", "b", "c")
	runs(w, "3.8.1", "b")
	if got := w.Violations(); !slices.Equal(got, []string{"b runs 3.8.1 in a cluster that speaks 3.6.0"}) {
		t.Errorf("expected a violation, got %v", got)
	}
}

func TestAMemberOf37CannotReadWhat35WroteBeforeTheLastSnapshot(t *testing.T) {
	for name, test := range map[string]struct {
		begun   string
		entries uint64
		want    []string
	}{
		"begun on 3.6":                      {"3.6.16", 0, nil},
		"begun on 3.5, and quiet":           {"3.5.35", 0, []string{"b runs 3.7.3 on a log that it cannot parse"}},
		"begun on 3.5, and not busy enough": {"3.5.35", 80, []string{"b runs 3.7.3 on a log that it cannot parse"}},
		"begun on 3.5, with a snapshot":     {"3.5.35", 120, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := &World{SnapshotCount: 100, AdvanceMost: 60}
			for _, version := range []string{test.begun, "3.6.16"} {
				runs(w, version, "a", "b", "c")
				list(t, dial(t, w, "a"))
			}
			store := dial(t, w, "a")
			for range 2 {
				expect(t, store.Advance(t.Context(), test.entries/2), nil)
			}
			runs(w, "3.7.3", "b")
			if got := w.Violations(); !slices.Equal(got, test.want) || w.Serving("b") != (test.want == nil) || w.Advanced() != test.entries {
				t.Errorf("expected %q, got %q after %d entries", test.want, got, w.Advanced())
			}
		})
	}
}
