// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// byTasks returns a plan that servers execute with the slot migration jobs of Redis. The test's simulated answers
// follow https://redis.io/commands/cluster-migration and have not been compared with those of a real server.

func byTasks(slots int) MoveSlots {
	out := byJobs(slots, 0)
	out.ByTasks = true
	return out
}

func TestServersOfRedisImportSlotsByThemselves(t *testing.T) {
	store := &scripted{task: []string{"accumulate-buffer", "takeover", "completed"}}
	if got := moved(t, store, byTasks(5), time.Second); !got.Ended || got.Err != nil || got.Moved != 5 {
		t.Errorf("expected 5 slots to have been moved, got %+v", got)
	}
	if want := []string{"b:1 CLUSTER MIGRATION IMPORT 0 4"}; !slices.Equal(store.got, want) {
		t.Errorf("expected the receiving end to get %q, got %q", want, store.got)
	}
}

func TestAJobOfRedisThatKeepsFailingIsCalledOff(t *testing.T) {
	for name, test := range map[string]struct {
		task   []string
		called bool
		words  string
	}{
		"it fails once and goes on": {task: []string{"failed", "failed", "connecting", "completed"}},
		"it fails for ever":         {task: []string{"failed", "connecting", "failed", "connecting", "failed"}, called: true, words: "the slot migration job has failed: because"},
		"a user cancels it":         {task: []string{"connecting", "canceled"}, words: "the slot migration job was canceled: because"},
		"there are no such jobs":    {words: "the servers do not support slot migration jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &scripted{task: test.task}
			got := moved(t, store, byTasks(5), time.Minute)
			if got.Failed() != (test.words != "") || got.Failed() && !strings.Contains(got.Err.Error(), test.words) {
				t.Errorf("expected the move to end with %q, got %+v", test.words, got)
			}
			if slices.Contains(store.got, "b:1 CLUSTER MIGRATION CANCEL ID task-1") != test.called {
				t.Errorf("expected the job to be cancelled: %t, servers got %q", test.called, store.got)
			}
			if errors.Is(got.Err, ErrNoJobs) != (test.task == nil) {
				t.Errorf("expected slots to go by keys only where there are no jobs, got %v", got.Err)
			}
		})
	}
}
