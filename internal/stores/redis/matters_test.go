// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import "testing"

func TestALookMattersIfADecisionOrAReportChanges(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*NodeStatus)
		matters bool
	}{
		"it cannot write its log":      {func(s *NodeStatus) { s.LogFails = true }, true},
		"its memory is full":           {func(s *NodeStatus) { s.UsedMemory = 99 }, true},
		"it evicts keys now":           {func(s *NodeStatus) { s.Evicts = true }, true},
		"it holds the cluster down":    {func(s *NodeStatus) { s.ClusterOK = false }, true},
		"no replica may copy it":       {func(s *NodeStatus) { s.NotAdmitted = true }, true},
		"it was started again":         {func(s *NodeStatus) { s.RunID = "r2" }, true},
		"it has other slots":           {func(s *NodeStatus) { s.Slots = SlotsOf(1) }, true},
		"a slot is open":               {func(s *NodeStatus) { s.Migrating = map[int]string{7: "b"} }, true},
		"some more memory is used":     {func(s *NodeStatus) { s.UsedMemory = 11 }, false},
		"it has more keys and has got": {func(s *NodeStatus) { s.Keys, s.Dataset, s.Offset = 9, 9, 9 }, false},
	} {
		before := NodeStatus{ID: "a", RunID: "r1", Role: Primary, ClusterOK: true, UsedMemory: 10, MaxMemory: 100}
		after := before
		test.change(&after)
		view := func(s NodeStatus) View { return View{Nodes: map[string]NodeStatus{"10.0.0.1:6379": s}} }
		if got := !alike(view(before), view(after)); got != test.matters {
			t.Errorf("%s: expected it to matter: %v", name, test.matters)
		}
	}
}

func TestAServerWithAJobUnderWayIsLookedAtAgainSoon(t *testing.T) {
	primary := NodeStatus{ID: "a", Role: Primary, ClusterOK: true, Jobs: []Job{{Slots: SlotsOf(1, 2, 3), State: "snapshotting"}}}
	if settled(primary) || open(primary) != "1-3" {
		t.Errorf("expected the process to be looked at again soon, and its slots to be open: %q", open(primary))
	}
}
