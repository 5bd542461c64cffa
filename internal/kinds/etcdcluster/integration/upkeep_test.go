// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const gibi = 1 << 30

// write simulates writes of a client. times is the number of writes. live and history are the numbers of bytes by which
// the current keys and the revision history grow.
func (s *site) write(token string, times, live, history int64) {
	s.Helper()
	if err := store.Write(token, times, live, history); err != nil {
		s.Fatalf("a client cannot write: %v", err)
	}
}

// awaitQuiet waits until no alarm is raised and the cluster is ready.
func (s *site) awaitQuiet(token string) *etcdv1beta2.EtcdCluster {
	s.Helper()
	operator.Until(s.T, "no alarm is raised", func() error {
		if alarms := store.Alarms(token); len(alarms) > 0 {
			return fmt.Errorf("there are %v", alarms)
		}
		return nil
	})
	return s.awaitWhole()
}

// notes returns the notes of all events that have the given reason.
func (s *site) notes(reason string) []string {
	s.Helper()
	events := &eventsv1.EventList{}
	if err := env.Client.List(s.Context(), events, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	var out []string
	for _, e := range events.Items {
		if e.Reason == reason {
			out = append(out, e.Note)
		}
	}
	return out
}

func (s *site) awaitEvents(reason string, times int) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("%d events of %s", times, reason), func() error {
		if got := s.notes(reason); len(got) != times {
			return fmt.Errorf("there are %q", got)
		}
		return nil
	})
}

func TestAClusterThatIsOutOfSpaceIsHealedAndKeepsItsLastRevisions(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	token := string(s.awaitWhole().UID)
	s.write(token, 5000, 1<<20, 2*gibi)
	s.awaitQuiet(token)
	s.write(token, 1, 1, 1)
	if got := store.Changes(token); !slices.Contains(got, "Compact 4000") {
		t.Errorf("expected the last 1000 of 5000 revisions to stay, got %q", got)
	}
	s.awaitEvents("HistoryCompacted", 1)
	s.awaitEvents("Defragmented", 3)
}

func TestAClusterThatIsFullOfKeysSaysWhatItNeedsAndIsHealedWhenTheyAreDeleted(t *testing.T) {
	s := newSite(t)
	s.create()
	token := string(s.awaitWhole().UID)
	s.write(token, 10, 2*gibi, 0)
	s.await("False NoSpace", "no more space can be freed, and 2.0 GiB of 2.0 GiB are in use", "ETCD_QUOTA_BACKEND_BYTES")
	s.write(token, 2000, -2*gibi, 2*gibi) // deleted keys stay in the revision history until the next compaction
	s.awaitQuiet(token)
	s.write(token, 1, 1, 1)
}

func TestNothingIsDoneToAClusterWhoseUserWantsReportsOnly(t *testing.T) {
	s := newSite(t)
	s.create(func(c *etcdv1beta2.EtcdCluster) {
		c.Spec.Upkeep = &etcdv1beta2.Upkeep{NoSpace: etcdv1beta2.NoSpaceReport}
	})
	token := string(s.awaitWhole().UID)
	before := store.Changes(token)
	s.write(token, 5000, 1<<20, 2*gibi)
	s.await("False NoSpace", "compact and defragment the members")
	env.Settled(t, env.Audit.Mark(t))
	if now := store.Changes(token); !slices.Equal(now, before) || len(store.Alarms(token)) == 0 {
		t.Errorf("expected nothing to be done, got %q after %q", now, before)
	}
}

func TestTheMemberWhoseDataIsCorruptIsReplacedAndNotTheOneThatEtcdAccuses(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	token := string(s.awaitWhole().UID)
	bad := store.Leader(token)
	all := names(s.pods())
	accused := all[slices.IndexFunc(all, func(name string) bool { return name != bad })]
	store.Corrupt(bad)
	store.Accuse(accused)
	operator.Until(t, "the corrupt member is taken out", func() error {
		if now := names(s.pods()); slices.Contains(now, bad) {
			return fmt.Errorf("members are %q", now)
		}
		return nil
	})
	s.awaitQuiet(token)
	if now := names(s.pods()); !slices.Contains(now, accused) {
		t.Errorf("expected %s to stay, members are %q", accused, now)
	}
	s.write(token, 1, 1, 1)
}

func TestMembersThatAreMostlyFreeAreDefragmentedOnceWhenTheSpecSaysSo(t *testing.T) {
	s := newSite(t)
	s.create(func(c *etcdv1beta2.EtcdCluster) {
		c.Spec.Upkeep = &etcdv1beta2.Upkeep{Defragment: &etcdv1beta2.Defragment{AboveFreePercent: 50}}
	})
	c := s.awaitWhole()
	token := string(c.UID)
	s.write(token, 1000, 1<<20, gibi)
	conn, err := store.Dial(etcd.Target{Endpoints: []string{c.ClientURL(s.pods()[0].Name)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Compact(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	s.awaitEvents("Defragmented", 3)
	for _, note := range s.notes("Defragmented") {
		if !strings.Contains(note, "was 1.0 GiB before and is 1.0 MiB now") {
			t.Errorf("expected the event to say what was given back, got %q", note)
		}
	}
	s.awaitWhole()
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}
