// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"testing"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/workload"
)

// on places the pods on the given nodes. If zone is not empty, all nodes are in that zone.
func (s *scene) on(zone string, nodes ...string) *scene {
	s.places = nil
	for i, node := range nodes {
		s.places = append(s.places, workload.Place{Member: s.pod(i).Name, Node: node, Zone: zone})
	}
	return s
}

func placementOf(s *scene) string {
	return conditionText(s.report().Status.Conditions, common.ConditionPlacement)
}

// In each case, pod i has the primary of shard i, and the next pod has its replica.
func TestPlacementReportsWhichShardsAndPrimariesALossCosts(t *testing.T) {
	for name, test := range map[string]struct {
		scene *scene
		want  string
	}{
		"a node each": {running(3).on("", "n1", "n2", "n3"), "True Spread: At worst, losing n1 (example-0) loses 1 of 3 pods"},
		"a primary with its replica, of five": {running(5).on("", "n1", "n1", "n2", "n3", "n4"),
			"False SharedNode: Losing n1 (example-0, example-1) loses 2 of 5 pods: every copy of slots 0-3276"},
		"two that share no shard, of five": {running(5).on("", "n1", "n2", "n1", "n3", "n4"), "True Spread: At worst, losing n1 (example-0, example-2) loses 2 of 5 pods"},
		"two of three": {running(3).on("", "n1", "n1", "n2"),
			"False SharedNode: Losing n1 (example-0, example-1) loses 2 of 3 pods: every copy of slots 0-5460, and the majority of the primaries (2 of 3 are lost)"},
		"one zone for all": {running(3).on("a", "n1", "n2", "n3"),
			"False SharedZone: Losing zone a (example-0, example-1, example-2) loses 3 of 3 pods: every copy of slots 0-5460, 5461-10922, 10923-16383, and the majority of the primaries (3 of 3 are lost)"},
		"no node yet": {running(3), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := placementOf(test.scene); got != test.want {
				t.Errorf("expected Placement to be\n%s, got\n%s", test.want, got)
			}
		})
	}
}

func TestWhatWasReportedOfPlacementStandsWhileTheRingIsChanged(t *testing.T) {
	s := running(3).on("", "n1", "n2", "n3")
	before := placementOf(s)
	s.swap("g1", "h0") // g1 is now the primary of shard 0, and opcrew will make h0 the primary again
	s.on("", "n1", "n1", "n2")
	if got := placementOf(s); got != before {
		t.Errorf("expected it to stay %s, got %s", before, got)
	}
}
