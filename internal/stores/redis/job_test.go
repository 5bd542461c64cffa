// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// moved runs a plan with a prober for the duration patience, and returns the progress of the move.
func moved(t *testing.T, store *scripted, step MoveSlots, patience time.Duration) (p Progress) {
	t.Helper()
	probing(t, store, func(prober *Prober) {
		if err := prober.Take(t.Context(), shop, step); err != nil {
			t.Fatal(err)
		}
		time.Sleep(patience)
		view, _ := prober.View(shop)
		p = *view.Move
	})
	return p
}

// byJobs returns a plan that the servers execute with slot migration jobs.
func byJobs(slots int, bytes int64) MoveSlots {
	out := plan(numbers(0, slots)...)
	out.ByJobs, out.Bytes = true, bytes
	return out
}

// oneEach returns the given slots with one key each.
func oneEach(slots []int) map[int][]any {
	out := map[int][]any{}
	for _, slot := range slots {
		out[slot] = []any{fmt.Sprint("key:", slot)}
	}
	return out
}

func TestServersThatHaveJobsMoveSlotsByThemselves(t *testing.T) {
	store := &scripted{jobs: []string{"connecting", "snapshotting", "success"}, keys: map[int][]any{5: {"k1", "k2"}, 6: {"k3"}}}
	got := moved(t, store, byJobs(1000, 3000), time.Second)
	if !got.Ended || got.Err != nil || got.Moved != 1000 || got.Keys != 3 || got.Bytes != 3000 {
		t.Errorf("expected 1000 slots of 3 keys and 3000 bytes to have been moved, got %+v", got)
	}
	want := []string{"a:1 CLUSTER MIGRATESLOTS SLOTSRANGE 0 999 NODE b:1"}
	if !slices.Equal(store.got, want) {
		t.Errorf("expected\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(store.got, "\n"))
	}
}

func TestAJobIsNoLargerThanWhatMayBeLost(t *testing.T) {
	store := &scripted{jobs: []string{"success"}, keys: oneEach(numbers(0, 100))}
	if got := moved(t, store, byJobs(100, 100*16<<20), time.Second); got.Moved != 100 {
		t.Errorf("expected all slots to have been moved, got %+v", got)
	}
	if want := "a:1 CLUSTER MIGRATESLOTS SLOTSRANGE 0 3 NODE b:1"; len(store.got) != 25 || store.got[0] != want {
		t.Errorf("expected 25 jobs of 4 slots of 16 MiB each, got %d such as %s", len(store.got), store.got[0])
	}
}

func TestAJobKeepsToTheRateOfItsPlan(t *testing.T) {
	step := byJobs(100, 100_000)
	step.BytesPerSecond = 10_000 // this rate allows 10 slots per second
	if got := moved(t, &scripted{jobs: []string{"success"}, keys: oneEach(numbers(0, 100))}, step, 4500*time.Millisecond); got.Moved != 50 || got.Ended {
		t.Errorf("expected 50 slots to have been moved in 4.5 s, the first 10 at once, got %+v", got)
	}
}

func TestAMoveEndsWithWhatTheServersSayOfItsJob(t *testing.T) {
	for name, test := range map[string]struct {
		store  *scripted
		words  string
		byJobs bool // whether the next attempt may use jobs again
	}{
		"it is refused":            {store: &scripted{}, words: "the servers do not support slot migration jobs: ERR unknown subcommand"},
		"it fails":                 {store: &scripted{jobs: []string{"snapshotting", "failed"}}, words: "the slot migration job has failed: because", byJobs: true},
		"a user cancels it":        {store: &scripted{jobs: []string{"cancelled"}}, words: "another client has cancelled the slot migration job: because", byJobs: true},
		"whether it began is lost": {store: &scripted{jobs: []string{"streaming"}, fails: "MIGRATESLOTS"}, words: "connection reset by peer", byJobs: true},
		"its state is not known":   {store: &scripted{jobs: []string{"streaming"}, fails: "GETSLOTMIGRATIONS"}, words: "connection reset by peer", byJobs: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := moved(t, test.store, byJobs(5, 0), time.Second)
			if !got.Failed() || got.Failures != 1 {
				t.Errorf("expected one failure to be counted, got %+v", got)
			}
			if !got.Ended || got.Moved != 0 || got.Err == nil || !strings.Contains(got.Err.Error(), test.words) {
				t.Errorf("expected the move to have ended with %q, got %+v", test.words, got)
			}
			if by := !errors.Is(got.Err, ErrNoJobs); by != test.byJobs {
				t.Errorf("expected the next move to be by jobs: %t, got %v", test.byJobs, got.Err)
			}
		})
	}
}

// opcrew must never cancel a job of Valkey. If the source stopped the job while the destination takes over the slots,
// all later writes would be lost.
func TestAJobIsNeverCalledOff(t *testing.T) {
	store := &scripted{jobs: []string{"streaming"}}
	probing(t, store, func(p *Prober) {
		if err := p.Take(t.Context(), shop, byJobs(1000, 0)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := p.Take(t.Context(), shop, StopMove{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if view, _ := p.View(shop); view.Moving() || view.Move.Moved != 0 || !errors.Is(view.Move.Err, context.Canceled) {
			t.Errorf("expected the move to have been stopped, got %+v", view.Move)
		}
	})
	if want := []string{"a:1 CLUSTER MIGRATESLOTS SLOTSRANGE 0 999 NODE b:1"}; !slices.Equal(store.got, want) {
		t.Errorf("expected one job to have been begun and nothing else, got\n%s", strings.Join(store.got, "\n"))
	}
}

func TestAnEndGetsNoMoreBeforeItsReplicaHasWhatItGot(t *testing.T) {
	store := &scripted{jobs: []string{"success"}, replication: "role:master\r\nslave0:ip=c,port=2,state=online,offset=1000,lag=1\r\nmaster_repl_offset:5000000\r\n"}
	got := moved(t, store, byJobs(5, 0), time.Minute)
	if got.Moved != 0 || got.Err == nil || !strings.Contains(got.Err.Error(), "has a replica that is 4999000 bytes behind, and the limit is 1048576") {
		t.Errorf("expected the move to have been given up, got %+v", got)
	}
	if len(store.got) > 0 {
		t.Errorf("expected no job, got %s", strings.Join(store.got, "\n"))
	}
}

// A move by keys must not wait for a replica's report. Replicas report their offset only once per second, so waiting
// would slow the move down.
func TestAMoveByKeysDoesNotWaitForAReportOfAReplica(t *testing.T) {
	behind := func(bytes int) string {
		return fmt.Sprintf("role:master\r\nslave0:ip=c,port=2,state=online,offset=0,lag=1\r\nmaster_repl_offset:%d\r\n", bytes)
	}
	if got := moved(t, &scripted{replication: behind(50 << 20)}, plan(5, 6), time.Second); got.Moved != 2 || got.Err != nil {
		t.Errorf("expected two slots to have been moved at once, got %+v", got)
	}
	if got := moved(t, &scripted{replication: behind(100 << 20)}, plan(5, 6), time.Minute); got.Moved != 0 || got.Err == nil {
		t.Errorf("expected a replica that far behind to be waited for, got %+v", got)
	}
}
