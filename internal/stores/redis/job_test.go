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

// moved has a prober carry out a plan for some time, and says how far it came.
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

// byJobs is a plan that the servers carry out.
func byJobs(slots int, bytes int64) MoveSlots {
	out := plan(numbers(0, slots)...)
	out.ByJobs, out.Bytes = true, bytes
	return out
}

// oneEach are slots with a key each.
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
	if !slices.Equal(store.told, want) {
		t.Errorf("expected\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(store.told, "\n"))
	}
}

func TestAJobIsNoLargerThanWhatMayBeLost(t *testing.T) {
	store := &scripted{jobs: []string{"success"}, keys: oneEach(numbers(0, 100))}
	if got := moved(t, store, byJobs(100, 100*16<<20), time.Second); got.Moved != 100 {
		t.Errorf("expected all slots to have been moved, got %+v", got)
	}
	if want := "a:1 CLUSTER MIGRATESLOTS SLOTSRANGE 0 3 NODE b:1"; len(store.told) != 25 || store.told[0] != want {
		t.Errorf("expected 25 jobs of 4 slots of 16 MiB each, got %d such as %s", len(store.told), store.told[0])
	}
}

func TestAJobKeepsToTheRateOfItsPlan(t *testing.T) {
	step := byJobs(100, 100_000)
	step.BytesPerSecond = 10_000 // 10 slots a second
	if got := moved(t, &scripted{jobs: []string{"success"}, keys: oneEach(numbers(0, 100))}, step, 4500*time.Millisecond); got.Moved != 50 || got.Ended {
		t.Errorf("expected 50 slots to have been moved in 4.5 s, the first 10 at once, got %+v", got)
	}
}

func TestAMoveEndsWithWhatTheServersSayOfItsJob(t *testing.T) {
	for name, test := range map[string]struct {
		store  *scripted
		words  string
		byJobs bool // the next one may be tried by jobs again
	}{
		"it is refused":            {store: &scripted{}, words: "the servers do not move slots by themselves: ERR unknown subcommand"},
		"it fails":                 {store: &scripted{jobs: []string{"snapshotting", "failed"}}, words: "their job has failed: because", byJobs: true},
		"somebody cancels it":      {store: &scripted{jobs: []string{"cancelled"}}, words: "their job was cancelled by somebody: because", byJobs: true},
		"whether it began is lost": {store: &scripted{jobs: []string{"streaming"}, fails: "MIGRATESLOTS"}, words: "connection reset by peer", byJobs: true},
		"nobody tells of it":       {store: &scripted{jobs: []string{"streaming"}, fails: "GETSLOTMIGRATIONS"}, words: "connection reset by peer", byJobs: true},
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

// A source that is asked to stop in the moment in which the other end takes over would lose what it is given from then on.
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
	if want := []string{"a:1 CLUSTER MIGRATESLOTS SLOTSRANGE 0 999 NODE b:1"}; !slices.Equal(store.told, want) {
		t.Errorf("expected one job to have been begun and nothing else, got\n%s", strings.Join(store.told, "\n"))
	}
}

func TestAnEndGetsNoMoreBeforeItsReplicaHasWhatItGot(t *testing.T) {
	store := &scripted{jobs: []string{"success"}, replication: "role:master\r\nslave0:ip=c,port=2,state=online,offset=1000,lag=1\r\nmaster_repl_offset:5000000\r\n"}
	got := moved(t, store, byJobs(5, 0), time.Minute)
	if got.Moved != 0 || got.Err == nil || !strings.Contains(got.Err.Error(), "has a replica that is 4999000 bytes behind, and may be 1048576") {
		t.Errorf("expected the move to have been given up, got %+v", got)
	}
	if len(store.told) > 0 {
		t.Errorf("expected no job, got %s", strings.Join(store.told, "\n"))
	}
	for text, want := range map[string]string{
		sheltered:      "",
		"role:slave\r": "is no primary any more",
		"role:master\r\nmaster_repl_offset:5\r\n":                                                                                                   "has no replica in sync",
		"role:master\r\nslave0:ip=c,state=wait_bgsave,offset=0,lag=0\r\nmaster_repl_offset:5\r\n":                                                   "has no replica in sync",
		"role:master\r\nslave0:ip=c,state=online,offset=0,lag=0\r\nslave1:ip=d,state=online,offset=5000000,lag=0\r\nmaster_repl_offset:5000001\r\n": "",
	} {
		if got := unsheltered(fields(text), mostBehind); got != want {
			t.Errorf("%q: expected %q, got %q", text, want, got)
		}
	}
}

// A replica says how far it is once a second: to wait for what it has got by then would bound the rate.
func TestAMoveByKeysDoesNotWaitForWhatAReplicaHasYetToTell(t *testing.T) {
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

// told is a job as Valkey 9.1.2 tells it.
func told(operation, slots, to, state string) []any {
	return []any{
		"name", "0a49", "operation", operation, "slot_ranges", slots, "target_node", to, "source_node", "a", "create_time", int64(1795325924),
		"last_update_time", int64(1795325924), "last_ack_time", int64(1795325924), "state", state, "message", "", "cow_size", int64(0), "remaining_repl_size", int64(0),
	}
}

func TestAJobIsFoundByItsSlotsWhateverElseIsToldOf(t *testing.T) {
	b := &batch{Move: Move{To: End{ID: "b"}}, slots: []int{1, 2, 3, 7}}
	jobs, err := parseJobs([]any{
		told("IMPORT", "1-3 7-7", "b", "1"), told("EXPORT", "1-3", "b", "2"), told("EXPORT", "1-3 7-7", "c", "3"),
		told("EXPORT", "1-3 7-7", "b", "4"), told("EXPORT", "1-3 7-7", "b", "5"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := b.own(jobs); found.State != "4" {
		t.Errorf("expected the last job that was begun of these slots, got %v", found)
	}
	if _, found := b.own(nil); found {
		t.Error("expected none among none")
	}
	if _, err := parseJobs([]any{told("EXPORT", "1-x", "b", "1")}); err == nil {
		t.Error("expected slots that are none to be an error")
	}
}

func TestAPrimaryTellsOfItsJobsThatHaveNotEnded(t *testing.T) {
	answers := []any{[]any{told("EXPORT", "1-3", "b", "snapshotting"), told("IMPORT", "5-5", "a", "success"), told("EXPORT", "9-9", "b", "failed"), told("EXPORT", "8-8", "b", "cancelled")}}
	primary, replica := NodeStatus{Role: Primary, ClusterOK: true, ID: "a", Version: Version{"9.1.2", true}}, NodeStatus{Role: Replica}
	if err := errors.Join(primary.joinJobs(answers), replica.joinJobs(answers), replica.joinJobs(nil)); err != nil {
		t.Fatal(err)
	}
	if len(primary.Jobs) != 1 || primary.Jobs[0].Slots.String() != "1-3" || primary.Jobs[0].Import || len(replica.Jobs) > 0 {
		t.Errorf("expected one job of the primary alone, got %v and %v", primary.Jobs, replica.Jobs)
	}
	if primary.settled() || primary.open() != "1-3" {
		t.Errorf("expected the process to be looked at again soon, and its slots to be open: %q", primary.open())
	}
}

func TestOnlyNewServersHaveJobs(t *testing.T) {
	for version, has := range map[Version]bool{
		{"9.1.2", true}: true, {"9.1.10", true}: true, {"9.2", true}: true, {"10.0.0", true}: true, {"9.1.1", true}: false, {"9.1", true}: false, {"8.1.4", true}: false, {"8.4.0", false}: true, {"8.2.3", false}: false, {"8.4.0", true}: false, {"", true}: false, {"unstable", true}: false,
	} {
		if version.HasJobs() != has {
			t.Errorf("%+v: expected jobs: %t", version, has)
		}
	}
}
