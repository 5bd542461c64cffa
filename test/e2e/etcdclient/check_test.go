// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"strings"
	"testing"
	"time"
)

// ops returns consecutive operations on one key. Each operation takes two time units.
func ops(ops ...Op) []Op {
	for i := range ops {
		o := &ops[i]
		o.Key = "k"
		if o.Return == 0 {
			o.Call, o.Return = time.Duration(10*i), time.Duration(10*i+5)
		}
	}
	return ops
}

func put(value string, revision int64) Op {
	return Op{Kind: Put, Value: value, Known: true, Answer: Answer{Revision: revision}}
}

func got(value string, mod, revision int64) Op {
	return Op{Kind: Get, Known: true, Answer: Answer{Value: value, ModRevision: mod, Revision: revision}}
}

func swapped(expect, value string, revision int64) Op {
	return Op{Kind: Swap, Expect: expect, Value: value, Known: true, Answer: Answer{Swapped: true, Revision: revision}}
}

func lost(kind Kind, expect, value string) Op { return Op{Kind: kind, Expect: expect, Value: value} }

// during returns op with the given start and end time.
func during(from, to time.Duration, op Op) Op {
	op.Call, op.Return = from, to
	return op
}

func TestHistoriesOfOperationsAreJudged(t *testing.T) {
	cases := []struct {
		name, found string
		ops         []Op
	}{
		{"what was written is read", "", ops(got("", 0, 1), put("a", 2), got("a", 2, 2), swapped("a", "b", 3), got("b", 3, 3))},
		{"a lost write", "one value at a time", ops(put("a", 2), put("b", 3), got("a", 2, 3))},
		{"a stale read", "one value at a time", ops(put("a", 2), put("b", 3), got("b", 3, 3), got("a", 2, 3))},
		{"a lost key", "one value at a time", ops(put("a", 2), got("", 0, 2))},
		{"two swaps of one value", "one value at a time", ops(put("a", 2), swapped("a", "b", 3), swapped("a", "c", 4))},
		{"a swap that should have been done", "one value at a time", ops(put("a", 2), Op{Kind: Swap, Expect: "a", Value: "b", Known: true, Answer: Answer{Value: "c", Revision: 2}})},
		{"reads meanwhile see the old and then the new", "", ops(put("a", 2), during(10, 50, put("b", 3)), during(12, 14, got("a", 2, 2)), during(15, 17, got("b", 3, 3)))},
		{"reads meanwhile see the new and then the old", "one value at a time", ops(put("a", 2), during(10, 50, put("b", 3)), during(12, 14, got("b", 3, 3)), during(15, 17, got("a", 2, 3)))},
		{"a write without an answer was done", "", ops(put("a", 2), lost(Put, "", "b"), got("b", 3, 3))},
		{"a write without an answer was done late", "", ops(put("a", 2), lost(Put, "", "b"), got("a", 2, 2), got("b", 3, 3))},
		{"a write without an answer was never done", "", ops(put("a", 2), lost(Put, "", "b"), got("a", 2, 2))},
		{"a write without an answer was done and undone", "one value at a time", ops(put("a", 2), lost(Put, "", "b"), got("b", 3, 3), got("a", 2, 3))},
		{"a swap without an answer was done", "", ops(put("a", 2), lost(Swap, "a", "b"), got("b", 3, 3))},
		{"a swap without an answer was done for another value", "one value at a time", ops(put("a", 2), lost(Swap, "c", "b"), got("b", 3, 3))},
		{"a revision goes back", "revision 5 was answered, then 4", ops(got("", 0, 5), got("", 0, 4))},
		{"a write has the revision of an earlier one", "revision 5 was answered, then 5", ops(put("a", 5), put("b", 5))},
		{"two writes have a revision", "revision 5 is of two writes", ops(during(1, 9, put("a", 5)), during(2, 8, put("b", 5)))},
		{"revisions of requests at the same time are free", "", ops(during(1, 9, put("a", 6)), during(2, 8, put("b", 5)))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { wantJudged(t, &History{Ops: c.ops}, c.found) })
	}
}

func TestAnswersOfTwoClustersAreFound(t *testing.T) {
	all := ops(put("a", 2), put("b", 3))
	all[1].Cluster = 7
	wantJudged(t, &History{Ops: all}, "2 clusters: [0 7]")
}

func TestWatchesAreJudged(t *testing.T) {
	a, b, c := Event{2, "k", "a"}, Event{3, "k", "b"}, Event{4, "k", "c"}
	written := ops(put("a", 2), put("b", 3), put("c", 4))
	cases := []struct {
		name, found string
		watches     []*Watch
	}{
		{"a complete watch", "", []*Watch{{From: 2, Events: []Event{a, b, c}}, {From: 3, Events: []Event{b, c}}, {From: 2}}},
		{"one event is missing", "missed revision 3", []*Watch{{From: 2, Events: []Event{a, c}}}},
		{"the first event is missing", "missed revision 2", []*Watch{{From: 2, Events: []Event{b, c}}}},
		{"one event comes twice", "received revision 3 (k) after 3", []*Watch{{From: 2, Events: []Event{a, b, b, c}}}},
		{"one event comes late", "received revision 3 (k) after 4", []*Watch{{From: 2, Events: []Event{a, c, b}}}},
		{"one event is older than the watch", "received revision 2 (k) after 2", []*Watch{{From: 3, Events: []Event{a, b, c}}}},
		{"one event has another value", "revision 3 is", []*Watch{{From: 2, Events: []Event{a, {3, "k", "x"}, c}}}},
		{"one could not go on", "compacted", []*Watch{{From: 2, Ended: "compacted"}}},
		{"two watches see an unacknowledged write", "", []*Watch{{From: 5, Events: []Event{{5, "k", "x"}}}, {From: 5, Events: []Event{{5, "k", "x"}}}}},
		{"only one watch sees an unacknowledged write", "missed revision 5", []*Watch{{From: 5, Events: []Event{{5, "k", "x"}, {6, "k", "y"}}}, {From: 5, Events: []Event{{6, "k", "y"}}}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { wantJudged(t, &History{Ops: written, Watches: c.watches}, c.found) })
	}
}

// wantJudged checks that Check reports a violation whose text contains the given string. If the string is "", Check
// must report no violation.
func wantJudged(t *testing.T, h *History, found string) {
	t.Helper()
	violations := h.Check()
	if found == "" && len(violations) > 0 {
		t.Errorf("expected no violation, got %q", violations)
	}
	if found != "" && !strings.Contains(strings.Join(violations, "\n"), found) {
		t.Errorf("expected a violation with %q, got %q", found, violations)
	}
}
