// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"testing"
	"unicode"
)

func FuzzInfo(f *testing.F) {
	f.Add("redis_version:7.0.15\r\nrole:slave\r\nmaster_host:10.0.0.2\r\nmaster_port:6379\r\nuptime_in_seconds:9223372036854775807\r\ndb0:keys=3,expires=0\r\n")
	f.Add("valkey_version:9.1.2\r\nloading:1\r\nerrorstat_MOVED:count=4\r\nused_memory:-1\r\nmaxmemory:9223372036854775807\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		status := parseInfo(text)
		if len(status.RunID) > mostWord || len(status.Version.Number) > mostWord || strings.ContainsFunc(status.RunID+status.Source, unicode.IsControl) || status.Past.Uptime < 0 {
			t.Errorf("%q is read as %+v", text, status)
		}
		_, _, _ = status.Fill(), status.Version.HasJobs(), status.Version.AwaitsReplicas()
	})
}

func FuzzTable(f *testing.F) {
	f.Add("cluster_state:ok\r\ncluster_current_epoch:3\r\n", nodesText)
	f.Add("", "aaa :0@0 myself,master - 0 0 0 connected 0-16383 [5->-bbb]\n")
	f.Fuzz(func(t *testing.T, info, nodes string) {
		var status NodeStatus
		if status.join(info, nodes) != nil {
			return
		}
		for _, peer := range status.Known {
			if again := SlotsOf(peer.Slots.Numbers()...); again.String() != peer.Slots.String() {
				t.Errorf("%q: expected sorted ranges that do not overlap, such as %s, got %s", nodes, again, peer.Slots)
			}
		}
		if strings.ContainsFunc(status.ID, unicode.IsControl) {
			t.Errorf("%q has the ID %q", nodes, status.ID)
		}
		_, _ = status.ReachablePrimaries()
	})
}

func FuzzSlots(f *testing.F) {
	for _, seed := range []string{"0-5460,7000", "0-16383,0-16383", "-1", "5-", "3-1", "99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slots, err := ParseSlots(text)
		if err != nil {
			return
		}
		again, err := ParseSlots(slots.String())
		if err != nil || again.String() != slots.String() || slots.Len() > SlotCount {
			t.Errorf("%q is read as %s, and that as %s (%v)", text, slots, again, err)
		}
	})
}

func FuzzJobs(f *testing.F) {
	f.Add("name", "0a49", "slot_ranges", "1-3 7-7", "state", "success", true)
	f.Add("id", "24cf", "slots", "0-10", "operation", "import", false)
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g string, nested bool) {
		var answer any = []any{[]any{a, b, c, d, e, g, nil, int64(3), a}, a, nil}
		if nested {
			answer = []any{[]any{[]any{a}, b, c, []any{d}, e, g}}
		}
		for _, read := range []func(any) ([]Job, error){ParseJobs, ParseTasks} {
			jobs, err := read(answer)
			for _, job := range underWay(jobs) {
				if err == nil && (len(job.Message) > mostRefusal || strings.ContainsFunc(job.Message+job.Name+job.State+job.To, unicode.IsControl)) {
					t.Errorf("a job is read as %+v", job)
				}
			}
		}
	})
}
