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

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

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

func TestASecondClusterUnderOneTokenIsAViolation(t *testing.T) {
	w := formed("a", "b", "c")
	w.Run(pod("d", false, "d"))
	if got := w.Violations(); !slices.Equal(got, []string{"a second cluster formed under the token t"}) {
		t.Errorf("expected a violation, got %v", got)
	}
}

func TestAProcessOutsideTheListDoesNotJoin(t *testing.T) {
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
