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

// The answers are as https://redis.io/commands/cluster-migration has them. No server that has such jobs was run.

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
	if want := []string{"b:1 CLUSTER MIGRATION IMPORT 0 4"}; !slices.Equal(store.told, want) {
		t.Errorf("expected the end that gets them to be told %q, got %q", want, store.told)
	}
}

func TestAJobOfRedisThatKeepsFailingIsCalledOff(t *testing.T) {
	for name, test := range map[string]struct {
		task   []string
		called bool
		words  string
	}{
		"it fails once and goes on": {task: []string{"failed", "failed", "connecting", "completed"}},
		"it fails for ever":         {task: []string{"failed", "connecting", "failed", "connecting", "failed"}, called: true, words: "their job has failed: because"},
		"somebody calls it off":     {task: []string{"connecting", "canceled"}, words: "their job was canceled: because"},
		"there are no such jobs":    {words: "the servers do not move slots by themselves"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &scripted{task: test.task}
			got := moved(t, store, byTasks(5), time.Minute)
			if got.Failed() != (test.words != "") || got.Failed() && !strings.Contains(got.Err.Error(), test.words) {
				t.Errorf("expected the move to end with %q, got %+v", test.words, got)
			}
			if slices.Contains(store.told, "b:1 CLUSTER MIGRATION CANCEL ID task-1") != test.called {
				t.Errorf("expected the job to be called off: %t, servers were told %q", test.called, store.told)
			}
			if errors.Is(got.Err, ErrNoJobs) != (test.task == nil) {
				t.Errorf("expected slots to go by keys only where there are no jobs, got %v", got.Err)
			}
		})
	}
}

func TestAJobOfRedisIsReadAsItsEndsTellIt(t *testing.T) {
	line := func(operation, state string) []any {
		return []any{"id", "24cf", "slots", "0-10 100-110", "source", "a", "dest", "b", "operation", operation, "state", state, "last_error", "", "retries", int64(1), "write_pause_ms", int64(0)}
	}
	for name, test := range map[string]struct {
		line     []any
		underWay bool
		retried  bool
	}{
		"one that goes on":              {line: line("import", "streaming-buffer"), underWay: true},
		"its other end":                 {line: line("migrate", "send-stream"), underWay: true},
		"one that is tried again":       {line: line("import", "failed"), underWay: true, retried: true},
		"its other end, until it is":    {line: line("migrate", "failed")},
		"one that is done":              {line: line("import", "completed")},
		"one that has been called off":  {line: line("import", "canceled")},
		"the end of it that was called": {line: line("migrate", "canceled")},
	} {
		status := NodeStatus{Role: Primary, ID: "b", Version: Version{Number: "8.4.0"}}
		if err := status.joinJobs([]any{[]any{test.line}}); err != nil {
			t.Fatal(err)
		}
		if (len(status.Jobs) == 1) != test.underWay || test.underWay && (status.Jobs[0].Retried != test.retried || status.Jobs[0].Slots.String() != "0-10,100-110") {
			t.Errorf("%s: expected it to be under way: %t, and to be tried again: %t, got %+v", name, test.underWay, test.retried, status.Jobs)
		}
	}
	if _, err := parseTasks([]any{[]any{"slots", "0-x"}}); err == nil {
		t.Error("expected slots that are none to be an error")
	}
}
