// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// A move waits until a replica of the destination has the data that the destination has received so far.
func TestAnEndIsShelteredByAReplicaThatIsNotFarBehind(t *testing.T) {
	for text, want := range map[string]string{
		"role:master\r\nslave0:ip=c,port=2,state=online,offset=5000000,lag=0\r\nmaster_repl_offset:5000000\r\n": "",
		"role:slave\r": "is no longer a primary",
		"role:master\r\nmaster_repl_offset:5\r\n":                                                                                                   "has no replica in sync",
		"role:master\r\nslave0:ip=c,state=wait_bgsave,offset=0,lag=0\r\nmaster_repl_offset:5\r\n":                                                   "has no replica in sync",
		"role:master\r\nslave0:ip=c,state=online,offset=0,lag=0\r\nslave1:ip=d,state=online,offset=5000000,lag=0\r\nmaster_repl_offset:5000001\r\n": "",
	} {
		if got := unsheltered(server.Fields(text), mostBehind); got != want {
			t.Errorf("%q: expected %q, got %q", text, want, got)
		}
	}
}

// jobLine returns a job as Valkey 9.1.2 reports it.
func jobLine(operation, slots, to, state string) []any {
	return []any{
		"name", "0a49", "operation", operation, "slot_ranges", slots, "target_node", to, "source_node", "a", "create_time", int64(1795325924),
		"last_update_time", int64(1795325924), "last_ack_time", int64(1795325924), "state", state, "message", "", "cow_size", int64(0), "remaining_repl_size", int64(0),
	}
}

func TestAJobIsFoundByItsSlotsAmongOthers(t *testing.T) {
	b := &batch{Move: Move{To: End{ID: "b"}}, slots: []int{1, 2, 3, 7}}
	jobs, err := server.ParseJobs([]any{
		jobLine("IMPORT", "1-3 7-7", "b", "1"), jobLine("EXPORT", "1-3", "b", "2"), jobLine("EXPORT", "1-3 7-7", "c", "3"),
		jobLine("EXPORT", "1-3 7-7", "b", "4"), jobLine("EXPORT", "1-3 7-7", "b", "5"),
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
	if _, err := server.ParseJobs([]any{jobLine("EXPORT", "1-x", "b", "1")}); err == nil {
		t.Error("expected slots that are none to be an error")
	}
}
