// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// noLibraries is what Redis 7.0 returns for FUNCTION DUMP if it has no function libraries. aLibrary stands for a dump
// that contains one library.
const (
	noLibraries = "\n\x00]\x9b\\@\x0f\x7f\xa2\xda"
	aLibrary    = "a-library" + noLibraries
)

// bare returns a plan by which the server b:1 gets its first slots from two primaries. The first of these gives more
// slots than one batch moves.
func bare(byJobs bool) MoveSlots {
	out := plan()
	out.Moves[0].Slots = Slots{{First: 0, Last: 499}}
	out.Moves = append(out.Moves, Move{From: End{Address: "c:1", ID: "c:1"}, To: End{Address: "b:1", ID: "b:1"}, Slots: SlotsOf(9000)})
	out.ByJobs, out.Bare = byJobs, []string{"b:1", "d:1"}
	return out
}

// functions returns the positions of FUNCTION commands among all commands that the servers received.
func (s *scripted) functions() (out []int) {
	for i, line := range s.got {
		if strings.Contains(line, "FUNCTION") {
			out = append(out, i)
		}
	}
	return out
}

func TestAPrimaryWithoutSlotsGetsLibrariesBeforeItsFirst(t *testing.T) {
	for how, byJobs := range map[string]bool{"by keys": false, "by jobs": true} {
		for what, test := range map[string]struct {
			dump string
			bare bool
			want []string
		}{
			"there are some": {dump: aLibrary, bare: true, want: []string{"a:1 FUNCTION DUMP", "b:1 FUNCTION RESTORE " + aLibrary + " REPLACE"}},
			"there are none": {dump: noLibraries, bare: true, want: []string{"a:1 FUNCTION DUMP"}},
			"it has slots":   {dump: aLibrary},
		} {
			t.Run(how+": "+what, func(t *testing.T) {
				known := strings.Replace(ownTable, "0-16383", "0-8999 9001-16383", 1) + "c:1 10.0.0.3:1@2 master - 0 0 1 connected 9000\n"
				store := &scripted{keys: map[int][]any{}, jobs: []string{"success"}, dump: test.dump, nodes: known}
				step := bare(byJobs)
				if !test.bare {
					step.Bare = nil
				}
				if got := moved(t, store, step, time.Second); !got.Ended || got.Err != nil || got.Moved != 501 {
					t.Fatalf("expected all slots to have been moved, got %+v", got)
				}
				if first := store.got[:len(test.want)]; !slices.Equal(first, test.want) || len(store.functions()) != len(test.want) {
					t.Errorf("expected it to begin with %q, and nothing else of functions, got %q and %d", test.want, first, len(store.functions()))
				}
				if test.bare && len(step.Bare) != 2 {
					t.Errorf("expected the step to stay as it was, got %q", step.Bare)
				}
			})
		}
	}
}

func TestWhatKeepsLibrariesFromAPrimaryForGoodDoesNotKeepSlots(t *testing.T) {
	for name, test := range map[string]struct {
		fails   string
		refuses map[string]string
		stops   string
	}{
		"it knows of no functions":    {refuses: map[string]string{"DUMP": "ERR unknown command 'FUNCTION', with args beginning with: 'DUMP'"}},
		"it forbids them":             {refuses: map[string]string{"DUMP": "NOPERM this user has no permissions to run the 'function|dump' command"}},
		"it has the function":         {refuses: map[string]string{"RESTORE": "ERR Function f already exists"}},
		"it loads":                    {refuses: map[string]string{"DUMP": "LOADING Redis is loading the dataset in memory"}, stops: "LOADING"},
		"it is busy":                  {refuses: map[string]string{"DUMP": "BUSY Redis is busy running a script."}, stops: "BUSY"},
		"it is full":                  {refuses: map[string]string{"RESTORE": "OOM command not allowed when used memory > 'maxmemory'."}, stops: "OOM"},
		"it follows another by now":   {refuses: map[string]string{"RESTORE": "READONLY You can't write against a read only replica."}, stops: "READONLY"},
		"whether it has them is lost": {fails: "RESTORE", stops: "connection reset by peer"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &scripted{keys: map[int][]any{}, dump: aLibrary, fails: test.fails, refuses: test.refuses}
			step := plan(5)
			step.Bare = []string{"b:1"}
			got := moved(t, store, step, time.Second)
			if test.stops == "" && (got.Err != nil || got.Moved != 1) {
				t.Errorf("expected the slot to have been moved, got %+v", got)
			}
			if (got.Unequipped != nil) != (test.stops == "") {
				t.Errorf("expected it to be known that slots went without libraries where they did, got %v", got.Unequipped)
			}
			if test.stops != "" && (got.Moved != 0 || got.Err == nil || !strings.Contains(got.Err.Error(), test.stops)) {
				t.Errorf("expected the move to have ended by %s, got %+v", test.stops, got)
			}
			if strings.Contains(strings.Join(store.got, "\n"), "SETSLOT") != (test.stops == "") {
				t.Errorf("expected a slot to be opened only where the move goes on, got\n%s", strings.Join(store.got, "\n"))
			}
		})
	}
}
