// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// on places members on nodes, each given as node/zone.
func (w world) on(nodes ...string) world {
	for serial, at := range nodes {
		name, zone, _ := strings.Cut(at, "/")
		w.pods[model.MemberName(w.c, int64(serial))].Spec.NodeName = name
		w.nodes[name] = model.Node{Zone: zone}
	}
	return w
}

func TestPlacementReportsWhichLossCostsTheQuorum(t *testing.T) {
	c, one := clustertest.New(), clustertest.New(clustertest.Sized(1))
	n := func(serial int64) string { return model.MemberName(c, serial) }
	inOrder := func(serials ...int64) string {
		var names []string
		for _, serial := range serials {
			names = append(names, n(serial))
		}
		return strings.Join(slices.Sorted(slices.Values(names)), ", ")
	}
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"a node each":       {observed(c, 3).on("n1", "n2", "n3"), "True Spread: At worst, losing n1 (" + n(0) + ") loses 1 of 3 members"},
		"all on one node":   {observed(c, 3).on("n1", "n1", "n1"), "False SharedNode: Losing n1 (" + inOrder(0, 1, 2) + ") loses 3 of 3 members: quorum"},
		"two on one node":   {observed(c, 3).on("n1", "n2", "n2"), "False SharedNode: Losing n2 (" + inOrder(1, 2) + ") loses 2 of 3 members: quorum"},
		"two of five":       {observed(clustertest.New(clustertest.Sized(5)), 5).on("n1", "n1", "n2", "n3", "n4"), "True Spread: At worst, losing n1 (" + inOrder(0, 1) + ") loses 2 of 5 members"},
		"three in one zone": {observed(c, 3).on("n1/a", "n2/a", "n3/a"), "False SharedZone: Losing zone a (" + inOrder(0, 1, 2) + ") loses 3 of 3 members: quorum"},
		"a zone each":       {observed(c, 3).on("n1/a", "n2/b", "n3/c"), "True Spread: At worst, losing n1 (" + n(0) + ") loses 1 of 3 members"},
		"the only member":   {observed(one, 1).on("n1/a"), "True Spread: At worst, losing n1 (" + n(0) + ") loses 1 of 1 members: quorum"},
		"a learner beside a voter costs no quorum": {observed(c, 3).on("n1", "n2", "n3").with(3, true).on("n1", "n2", "n3", "n3"),
			"True Spread: At worst, losing n3 (" + inOrder(2, 3) + ") loses 2 of 4 members"},
		"before it is formed": {unseen(observed(clustertest.New(clustertest.Unformed), 3)), "none"},
		"asleep":              {observed(clustertest.New(clustertest.WithClaims), 3).asks(clustertest.Hibernates), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			c := reported(test.world)
			if got := conditionOf(c, common.ConditionPlacement); got != test.want {
				t.Errorf("expected Placement to be\n%s, got\n%s", test.want, got)
			}
		})
	}
	if got := conditionOf(reported(observed(c, 3).on("n1", "n1", "n1")), "Ready"); got != "True AllMembersReady: 3 of 3 members are ready" {
		t.Errorf("expected Ready not to go by where members run, got %s", got)
	}
}
