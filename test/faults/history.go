// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Event is one change of one object, as the observer received it from the server.
type Event struct {
	Key    Key
	Object *unstructured.Unstructured // state after the change, or the last state if the object was deleted
	New    bool                       // the object was created
	Gone   bool                       // the object was deleted
	At     time.Time                  // time at which the observer received the event
	// Write describes the operator's write that caused the event. It is empty if another client caused the event.
	Write string

	version uint64
}

// history is the initial view of a run, and all later events in the server's order.
type history struct {
	first  View
	events []Event
}

// versionNumber returns a resource version as a number. Versions of different objects can be compared, since all are
// revisions of one etcd.
func versionNumber(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// attribute sorts the events into the server's order. It sets Write in the events that the operator caused.
func (h *history) attribute(writes []*write) {
	slices.SortStableFunc(h.events, func(a, b Event) int { return cmp.Compare(a.version, b.version) })
	by := map[uint64]*write{}
	for _, w := range writes {
		if w.version != 0 {
			by[w.version] = w
		}
	}
	for i := range h.events {
		if w := by[h.events[i].version]; w != nil {
			h.events[i].Write = w.String()
		}
	}
}

// replay calls see for every event, with the views before and after the event.
func (h *history) replay(see func(before, after View, e Event)) {
	view := h.first
	for _, e := range h.events {
		after := view.with(e)
		see(view, after, e)
		view = after
	}
}

// tally counts how often an object was created, changed and deleted.
type tally struct{ created, changed, deleted int }

// tally returns a tally for each object. Objects whose names differ only in a generated part share one tally.
func (h *history) tally() map[Key]tally {
	tallies := map[Key]tally{}
	for _, e := range h.events {
		key := generic(e.Object)
		t := tallies[key]
		switch {
		case e.New:
			t.created++
		case e.Gone:
			t.deleted++
		default:
			t.changed++
		}
		tallies[key] = t
	}
	return tallies
}

// generic returns the key of an object with placeholders for generated parts of its name.
func generic(u *unstructured.Unstructured) Key {
	key := keyOf(u)
	key.Namespace = ""
	if prefix := u.GetGenerateName(); prefix != "" && strings.HasPrefix(key.Name, prefix) {
		key.Name = prefix + "*"
	}
	key.Name = uid.ReplaceAllString(key.Name, "*")
	return key
}

// uid matches a UID that the server generates, alone or in a name.
var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
