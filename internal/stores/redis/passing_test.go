// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import "testing"

// claim returns what one of two primaries reports: the slots that it claims, and those that it lists for the other
// primary.
func claim(id, own, other, others string) NodeStatus {
	read := func(text string) Slots {
		slots, _ := ParseSlots(text) // "" means no slots
		return slots
	}
	return NodeStatus{ID: id, Role: Primary, Slots: read(own), Known: []Peer{
		{ID: id, Myself: true, Slots: read(own)}, {ID: other, Slots: read(others)},
	}}
}

func look(a, b NodeStatus) View { return View{Nodes: map[string]NodeStatus{"a:1": a, "b:1": b}} }

func TestASlotThatMovesBetweenTwoAnswersIsPassing(t *testing.T) {
	before := look(claim("a", "0-99", "b", "100-16383"), claim("b", "100-16383", "a", "0-99"))
	between := look(claim("a", "0-98", "b", "99-16383"), claim("b", "100-16383", "a", "0-99"))
	silent := look(claim("a", "0-98", "b", "99-16383"), NodeStatus{Err: errLate})
	for name, test := range map[string]struct {
		before View
		now    View
		want   string
	}{
		"all are claimed":                          {before: before, now: before},
		"one was given away since another said":    {before: before, now: between, want: "99"},
		"nothing was seen before":                  {now: between, want: "99"},
		"none could be asked before":               {before: View{Err: errLate}, now: between, want: "99"},
		"its owner did not answer before":          {before: silent, now: between, want: "99"},
		"it is so for the second time":             {before: between, now: between},
		"its new owner does not answer":            {before: before, now: silent},
		"the one that has them is a new one":       {before: before, now: look(claim("a", "0-99", "", ""), claim("c", "", "a", "0-99"))},
		"a cluster has yet to be made":             {now: look(claim("a", "", "b", ""), claim("b", "", "a", ""))},
		"one was thrown away, which others do not": {before: before, now: look(claim("a", "", "b", "100-16383"), claim("b", "100-16383", "a", "0-99")), want: "0-99"},
	} {
		if got := test.now.passing(test.before).String(); got != test.want {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}

func TestALossThatASecondLookConfirmsMatters(t *testing.T) {
	first := look(claim("a", "", "b", "100-16383"), claim("b", "100-16383", "a", "0-99"))
	second := first
	first.Passing = first.passing(View{})
	second.Passing = second.passing(first)
	if alike(first, second) {
		t.Error("expected the second look to matter")
	}
	if third := second; !alike(second, third) {
		t.Error("expected a third one that shows the same not to")
	}
}
