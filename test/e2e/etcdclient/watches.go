// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"cmp"
	"fmt"
	"slices"
)

// checkWatches checks that every watch received each write since its start exactly once, unchanged, and in the order of
// revisions.
func checkWatches(ops []Op, watches []*Watch) []string {
	known, out := knownWrites(ops, watches)
	for _, w := range watches {
		if w.Ended != "" {
			out = append(out, fmt.Sprintf("watch %s could not go on: %s", w.Name, w.Ended))
		}
		out = append(out, first(checkOrder(w))...)
		out = append(out, first(checkGaps(w, known))...)
	}
	return out
}

// knownWrites returns all writes that certainly happened, because a client got an acknowledgement, read the value or
// received the event. If two of these differ for the same revision, it reports a violation, because there are two
// histories.
func knownWrites(ops []Op, watches []*Watch) (known []Event, out []string) {
	found := map[int64]Event{}
	add := func(e Event, who string) {
		other, ok := found[e.Revision]
		if ok && other != e {
			out = append(out, fmt.Sprintf("revision %d is %q=%q to %s, and %q=%q to another", e.Revision, e.Key, e.Value, who, other.Key, other.Value))
		}
		found[e.Revision] = e
	}
	for _, op := range ops {
		if op.wrote() {
			add(Event{op.Revision, op.Key, op.Value}, "its writer")
		}
		if op.Known && op.ModRevision > 0 {
			add(Event{op.ModRevision, op.Key, op.Answer.Value}, "a reader")
		}
	}
	for _, w := range watches {
		for _, e := range w.Events {
			add(e, "watch "+w.Name)
		}
	}
	for _, e := range found {
		known = append(known, e)
	}
	slices.SortFunc(known, func(a, b Event) int { return cmp.Compare(a.Revision, b.Revision) })
	return known, first(out)
}

// checkOrder checks that the revisions of a watch's events strictly increase. Each write of the client has a different
// revision.
func checkOrder(w *Watch) []string {
	var out []string
	last := w.From - 1
	for _, e := range w.Events {
		if e.Revision <= last {
			out = append(out, fmt.Sprintf("watch %s received revision %d (%s) after %d", w.Name, e.Revision, e.Key, last))
		}
		last = max(last, e.Revision)
	}
	return out
}

// checkGaps checks that the watch received every known write between its first and its last event.
func checkGaps(w *Watch, known []Event) []string {
	received := map[int64]bool{}
	last := w.From - 1
	for _, e := range w.Events {
		received[e.Revision] = true
		last = max(last, e.Revision)
	}
	var out []string
	for _, e := range known {
		if e.Revision >= w.From && e.Revision <= last && !received[e.Revision] {
			out = append(out, fmt.Sprintf("watch %s missed revision %d, %s=%q, and received %d", w.Name, e.Revision, e.Key, e.Value, last))
		}
	}
	return out
}
