// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Regression: a cluster that was created with etcd 3.5 and had few writes could not be upgraded from etcd 3.6 to 3.7.
func TestARealClusterBegunOn35Runs37OnceItsMembersHaveWrittenASnapshot(t *testing.T) {
	const v35, v36, v37 = "3.5.35", "3.6.16", "3.7.3"
	all := []*server{newServer(t, "a"), newServer(t, "b"), newServer(t, "c")}
	for _, s := range all {
		s.version = v35
		s.start(t, "new", all...)
	}
	store := dialAll(t, all...)
	awaitReal(t, store, all)
	raiseReal(t, store, all, v36)
	if log := diesOn(t, all[0], v37, all...); !strings.Contains(log, "cannot parse invalid wire-format data") {
		t.Errorf("expected 3.7 not to be able to read what 3.5 wrote, else nothing needs to be done; it said\n%s", log)
	}
	awaitReal(t, store, all)
	advanceReal(t, store, all, 10_100)
	raiseReal(t, store, all, v37)
}

// raiseReal upgrades all members, one after the other.
func raiseReal(t *testing.T, store etcd.Store, all []*server, version string) {
	t.Helper()
	for _, s := range all {
		s.stop()
		s.version = version
		s.start(t, "new", all...)
		awaitVersion(t, store, s)
	}
	awaitReal(t, store, all)
}

// awaitReal waits until all members run, know each other, and have agreed on the cluster version.
func awaitReal(t *testing.T, store etcd.Store, all []*server) {
	t.Helper()
	for _, s := range all {
		awaitVersion(t, store, s)
	}
	members(t, store, len(all), len(all))
	agreeReal(t, store, all...)
}

// awaitVersion waits until a member runs its new version.
func awaitVersion(t *testing.T, store etcd.Store, s *server) {
	t.Helper()
	within(t, s.name+" runs "+s.version, whatever, func(ctx context.Context) error {
		status, err := store.Status(ctx, s.client)
		if err == nil && (status.Version != s.version || status.Leader == 0) {
			return fmt.Errorf("got %+v", status)
		}
		return err
	})
}

// advanceReal makes the members of a real cluster write log entries, in several calls as opcrew does.
func advanceReal(t *testing.T, store etcd.Store, all []*server, entries uint64) {
	t.Helper()
	begun := time.Now()
	goal := statusReal(t, store, all[0]).Applied + entries
	for portion := 1; ; portion++ {
		before := statusReal(t, store, all[0])
		for _, s := range all[1:] {
			if other := statusReal(t, store, s); other.Applied < before.Applied {
				before = other
			}
		}
		if before.Applied >= goal {
			t.Logf("%d entries in %s", entries, time.Since(begun).Round(10*time.Millisecond))
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		begun := time.Now()
		if err := store.Advance(ctx, goal-before.Applied); err != nil {
			t.Fatalf("expected the cluster to take entries, got %v", err)
		}
		cancel()
		t.Logf("portion %d: %d entries in %s", portion, statusReal(t, store, all[0]).RaftIndex-before.Applied, time.Since(begun).Round(10*time.Millisecond))
	}
}

func statusReal(t *testing.T, store etcd.Store, s *server) etcd.MemberStatus {
	t.Helper()
	status, err := store.Status(t.Context(), s.client)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// diesOn runs another version of etcd on a copy of a member's data, waits until this etcd exits, and returns its log.
func diesOn(t *testing.T, s *server, version string, all ...*server) string {
	t.Helper()
	s.stop()
	copied := *s
	copied.dir, copied.version = filepath.Join(t.TempDir(), "data"), version
	if err := os.CopyFS(copied.dir, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	copied.start(t, "new", all...)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = copied.cmd.Wait() // an error is expected, because etcd panics
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Errorf("expected %s to end on the data of %s", version, s.version)
	}
	s.start(t, "new", all...)
	log, err := os.ReadFile(copied.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

func TestNothingIsPassedWithoutAQuorumAndThatIsAnError(t *testing.T) {
	a, b := newServer(t, "a"), newServer(t, "b")
	a.start(t, "new", a, b)
	b.start(t, "new", a, b)
	store := dialAll(t, a, b)
	members(t, store, 2, 2)
	if err := store.Advance(t.Context(), 0); err != nil {
		t.Errorf("expected no entries to be passed at once, got %v", err)
	}
	if err := store.Advance(t.Context(), 300); err != nil {
		t.Errorf("expected 300 entries to be passed, got %v", err)
	}
	b.stop()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	begun := time.Now()
	err := store.Advance(ctx, 300)
	if took := time.Since(begun); err == nil || took > 10*time.Second {
		t.Errorf("expected an error in time as nothing was written, got %v after %s", err, took)
	}
}
