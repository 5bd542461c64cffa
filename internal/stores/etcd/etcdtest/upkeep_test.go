// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

const mebi = 1 << 20

func TestAFullMemberRefusesWritesUntilThereIsRoomAndTheAlarmIsTakenBack(t *testing.T) {
	w := formed("a", "b", "c")
	w.Quota = 100 * mebi
	store := dial(t, w, "a", "b", "c")
	expect(t, w.Write("t", 1000, mebi, 100*mebi), nil)
	expect(t, w.Write("t", 1, mebi, 0), errNoSpace)
	expect(t, w.Write("t", 1, -1, 0), nil) // a deletion of keys
	alarm := etcd.Alarm{Member: id(t, w, "a"), Kind: etcd.AlarmNoSpace}
	status, err := store.Status(t.Context(), clientURL("b"))
	if err != nil || !slices.Contains(status.Alarms(), alarm) || status.DBSize < 100*mebi || status.Revision != 1001 {
		t.Errorf("expected every member to tell of the alarm, got %+v, %v", status, err)
	}
	expect(t, store.Compact(t.Context(), 1002), errFuture)
	expect(t, store.Compact(t.Context(), 1000), nil)
	expect(t, store.Compact(t.Context(), 1000), etcd.ErrCompacted)
	for _, name := range []string{"a", "b", "c"} {
		expect(t, store.Defragment(t.Context(), clientURL(name)), nil)
	}
	for _, raised := range w.Alarms("t") {
		expect(t, store.Disarm(t.Context(), raised), nil)
	}
	expect(t, w.Write("t", 1, mebi, 0), nil)
	if got := w.Violations(); len(got) > 0 {
		t.Errorf("expected no violation, got %q", got)
	}
}

func TestAFollowerThatRefusesWritesReportsTheSizeBeforeACompaction(t *testing.T) {
	for name, count := range map[string]func(*World, etcd.Store) error{
		"until it is defragmented":   func(_ *World, s etcd.Store) error { return s.Defragment(t.Context(), clientURL("b")) },
		"until something is deleted": func(w *World, _ etcd.Store) error { return w.Write("t", 1, -1, 0) },
		"until it starts again":      func(w *World, _ etcd.Store) error { w.Stop("b"); w.Run(pod("b", false, "a", "b", "c")); return nil },
	} {
		w := formed("a", "b", "c")
		leader(w, "a")
		w.Quota = 100 * mebi
		store := dial(t, w, "a", "b", "c")
		inUse := func(name string) int64 {
			status, err := store.Status(t.Context(), clientURL(name))
			expect(t, err, nil)
			return status.DBInUse / mebi
		}
		expect(t, w.Write("t", 1000, mebi, 100*mebi), nil)
		expect(t, store.Compact(t.Context(), 1000), nil)
		if inUse("a") != 1 || inUse("b") != 101 {
			t.Errorf("%s: expected 1 MiB in use of the leader, 101 still of b, got %d and %d", name, inUse("a"), inUse("b"))
		}
		expect(t, count(w, store), nil)
		if inUse("b") > 1 {
			t.Errorf("%s: expected b to count again, it reports %d MiB", name, inUse("b"))
		}
	}
}

func TestWhatMustNotBeDoneToDataIsAViolation(t *testing.T) {
	for want, do := range map[string]func(*World, etcd.Store) error{
		"alarm NOSPACE is cleared, and its cause at a persists": func(w *World, s etcd.Store) error {
			w.Quota = mebi
			return errors.Join(w.Write("t", 1, mebi, 0), s.Disarm(t.Context(), w.Alarms("t")[0]))
		},
		"alarm CORRUPT is cleared, and its cause at b persists": func(w *World, s etcd.Store) error {
			w.Corrupt("b")
			w.Accuse("b")
			return s.Disarm(t.Context(), w.Alarms("t")[0])
		},
		"a is blocked while only 1 of 2 other voters respond": func(w *World, s etcd.Store) error {
			w.Stop("b")
			return s.Defragment(t.Context(), clientURL("a"))
		},
		"d has begun with the corrupt data of a": func(w *World, s etcd.Store) error {
			w.Corrupt("a") // a is the leader
			_, err := s.AddLearner(t.Context(), peerURL("d"))
			w.Run(pod("d", true, "a", "b", "c", "d"))
			return err
		},
	} {
		w := formed("a", "b", "c")
		leader(w, "a")
		expect(t, do(w, dial(t, w, "a", "c")), nil)
		if got := strings.Join(w.Violations(), "\n"); !strings.Contains(got, want) {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
}

func leader(w *World, name string) {
	p := w.processes.find(name)
	p.cluster.lead(p.id)
}

func TestTheHashOfACorruptMemberIsAnother(t *testing.T) {
	w := formed("a", "b")
	store := dial(t, w, "a", "b")
	sums := func() []etcd.Hash {
		var out []etcd.Hash
		for _, name := range []string{"a", "b"} {
			sum, err := store.Hash(t.Context(), clientURL(name))
			expect(t, err, nil)
			out = append(out, sum)
		}
		return out
	}
	if got := sums(); got[0] != got[1] {
		t.Errorf("expected the same, got %v", got)
	}
	if w.Corrupt("b"); sums()[0] == sums()[1] {
		t.Error("expected b to differ")
	}
}
