// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// placed returns members a, b, ... that run on the given nodes. Each place is a node and its zone, which may be "".
func placed(nodes ...[2]string) []Place {
	var out []Place
	for i, at := range nodes {
		out = append(out, Place{Member: string(rune('a' + i)), Node: at[0], Zone: at[1]})
	}
	return out
}

func TestMembersAreGroupedByNodeAndByZone(t *testing.T) {
	got := Domains(placed([2]string{"n2", "z1"}, [2]string{"n1", "z1"}, [2]string{"n2", ""}))
	same(t, "the domains", []Domain{
		{Name: "n1", Members: []string{"b"}}, {Name: "n2", Members: []string{"a", "c"}}, {Name: "z1", IsZone: true, Members: []string{"a", "b"}},
	}, got)
}

func TestPlacementSaysWhatALossCosts(t *testing.T) {
	two := func(lost []string) Cost { return Cost{Words: fmt.Sprintf("%d of 4", len(lost)), Harms: len(lost) >= 2} }
	one := func(lost []string) Cost { return Cost{Words: "the only one", Harms: true} }
	for name, test := range map[string]struct {
		places []Place
		cost   func([]string) Cost
		want   string
	}{
		"no node yet": {nil, two, "none"},
		"a node each": {placed([2]string{"n1"}, [2]string{"n2"}), two, "True Spread: At worst, losing n1 (a) loses 1 of 4"},
		"one node":    {placed([2]string{"n1"}, [2]string{"n1"}), two, "False SharedNode: Losing n1 (a, b) loses 2 of 4"},
		"one zone":    {placed([2]string{"n1", "z"}, [2]string{"n2", "z"}), two, "False SharedZone: Losing zone z (a, b) loses 2 of 4"},
		"a node and a zone": {placed([2]string{"n1", "z"}, [2]string{"n1", "z"}), two,
			"False SharedNode: Losing n1 (a, b) loses 2 of 4; losing zone z (a, b) loses 2 of 4"},
		"nothing can be spread": {placed([2]string{"n1", "z"}), one, "True Spread: At worst, losing n1 (a) loses the only one"},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "Placement", test.want, reportedBy(common.ConditionPlacement, func(set condition.Set) { ReportPlacement(set, test.places, test.cost) }))
		})
	}
}

func TestAMessageNamesNoMoreThanCanBeRead(t *testing.T) {
	var many []Place
	for node := range 7 {
		for member := range 7 {
			many = append(many, Place{Member: fmt.Sprintf("m%d%d", node, member), Node: fmt.Sprintf("n%d", node)})
		}
	}
	got := reportedBy(common.ConditionPlacement, func(set condition.Set) {
		ReportPlacement(set, many, func([]string) Cost { return Cost{Words: "much", Harms: true} })
	})
	want := "False SharedNode: Losing n0 (m00, m01, m02, m03, m04 and 2 more) loses much; losing n1 (m10, m11, m12, m13, m14 and 2 more) loses much; " +
		"losing n2 (m20, m21, m22, m23, m24 and 2 more) loses much; losing n3 (m30, m31, m32, m33, m34 and 2 more) loses much; " +
		"losing n4 (m40, m41, m42, m43, m44 and 2 more) loses much and 2 more"
	same(t, "Placement", want, got)
}

func TestPodsArePlacedWithTheZoneOfTheirNode(t *testing.T) {
	zoned, plain := &corev1.Node{}, &corev1.Node{}
	zoned.Name, plain.Name = "n1", "n2"
	zoned.Labels = map[string]string{corev1.LabelTopologyZone: "z"}
	a, b, c, d := newPod(isOn("n1")), newPod(isOn("n2")), newPod(isOn("gone")), newPod()
	a.Name, b.Name, c.Name, d.Name = "a", "b", "c", "d"
	got, err := ObservePlaces(t.Context(), fake.NewClientBuilder().WithObjects(zoned, plain).Build(), []*corev1.Pod{a, b, c, d})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the places", []Place{{"a", "n1", "z"}, {"b", "n2", ""}, {"c", "gone", ""}}, got)
}

func TestHeartbeatsOfNodesEnqueueNothing(t *testing.T) {
	before := &corev1.Node{}
	before.UID, before.Labels = "u", map[string]string{corev1.LabelTopologyZone: "z"}
	beats, moves := before.DeepCopy(), before.DeepCopy()
	beats.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	moves.Labels[corev1.LabelTopologyZone] = "y"
	changed := ZoneChanged()
	if changed.Update(ctrlevent.UpdateEvent{ObjectOld: before, ObjectNew: beats}) {
		t.Error("expected a heartbeat to enqueue nothing")
	}
	if !changed.Update(ctrlevent.UpdateEvent{ObjectOld: before, ObjectNew: moves}) {
		t.Error("expected another zone to be seen")
	}
	if changed.Create(ctrlevent.CreateEvent{Object: before, IsInInitialList: true}) || !changed.Create(ctrlevent.CreateEvent{Object: before}) {
		t.Error("expected nodes that come to be seen, and not those that were there before")
	}
}
