// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"testing"
)

// jobLine returns a job as Valkey 9.1.2 lists it.
func jobLine(operation, slots, to, state string) []any {
	return []any{
		"name", "0a49", "operation", operation, "slot_ranges", slots, "target_node", to, "source_node", "a", "create_time", int64(1795325924),
		"last_update_time", int64(1795325924), "last_ack_time", int64(1795325924), "state", state, "message", "", "cow_size", int64(0), "remaining_repl_size", int64(0),
	}
}

func TestAPrimaryReportsItsJobsThatHaveNotEnded(t *testing.T) {
	answers := []any{[]any{jobLine("EXPORT", "1-3", "b", "snapshotting"), jobLine("IMPORT", "5-5", "a", "success"), jobLine("EXPORT", "9-9", "b", "failed"), jobLine("EXPORT", "8-8", "b", "cancelled")}}
	primary, replica := NodeStatus{Role: Primary, ClusterOK: true, ID: "a", Version: Version{"9.1.2", true}}, NodeStatus{Role: Replica}
	if err := errors.Join(primary.joinJobs(answers), replica.joinJobs(answers), replica.joinJobs(nil)); err != nil {
		t.Fatal(err)
	}
	if len(primary.Jobs) != 1 || primary.Jobs[0].Slots.String() != "1-3" || primary.Jobs[0].Import || len(replica.Jobs) > 0 {
		t.Errorf("expected one job of the primary alone, got %v and %v", primary.Jobs, replica.Jobs)
	}
}

func TestAJobOfRedisIsReadAsItsEndsReportIt(t *testing.T) {
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
	if _, err := ParseTasks([]any{[]any{"slots", "0-x"}}); err == nil {
		t.Error("expected slots that are none to be an error")
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
