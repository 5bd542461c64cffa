// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

func TestAHostIsAskedOnlyWhereItMayExplainSomething(t *testing.T) {
	for name, c := range map[string]struct {
		object *egov1.Activity
		pod    *corev1.Pod
		after  time.Duration
		want   bool
	}{
		"there is no pod":              {activitytest.New(), nil, time.Hour, false},
		"it is about to begin":         {activitytest.New(), activitytest.Pod(activitytest.CreatedAt(0)), time.Second, false},
		"it does not begin":            {activitytest.New(), activitytest.Pod(activitytest.CreatedAt(0)), HostPatience, true},
		"it has no node":               {activitytest.New(), activitytest.Pod(activitytest.CreatedAt(0), activitytest.Unschedulable("cordoned")), 0, true},
		"it runs":                      {activitytest.New(), activitytest.Pod(activitytest.CreatedAt(0), activitytest.Running), time.Hour, false},
		"it runs and is not heard of":  {activitytest.New(), activitytest.Pod(activitytest.CreatedAt(0), activitytest.Running, activitytest.Unreachable), time.Hour, true},
		"it has ended":                 {activitytest.New(), activitytest.Pod(activitytest.CreatedAt(0), activitytest.EndedWith(activitytest.Exit3)), time.Hour, false},
		"it has ended without a word":  {activitytest.New(), activitytest.Pod(activitytest.InBoot("first"), activitytest.EndedWith("")), 0, true},
		"it was given up, and is over": {activitytest.New(activitytest.InState(egov1.StateUnreachable)), activitytest.Pod(activitytest.CreatedAt(0)), time.Hour, false},
	} {
		activitytest.Check(t, name+": the host explains it", Explains(c.object, c.pod, activitytest.Noon.Add(c.after)), c.want)
	}
}

func TestAHostThatJoinsAPoolSaysWhatKeepsPodsOut(t *testing.T) {
	joins := []corev1.Taint{{Key: "opcrew.io/nodepool-joining", Effect: corev1.TaintEffectNoSchedule}}
	const before, after = "node node1 carries the taint opcrew.io/nodepool-joining until spec.onJoin of ", " has run there; an Activity with placement: Repair runs there now"
	for name, c := range map[string]struct {
		taints []corev1.Taint
		record string
		want   string
	}{
		"it joins no pool":     {nil, `{"pools":["gold"],"pipelines":{"gold":{"phase":"Joined"}}}`, ""},
		"its pool is known":    {joins, `{"pools":["gold"],"pipelines":{"gold":{"phase":"Joining"},"iron":{"phase":"Leaving"}}}`, before + "NodePool gold" + after},
		"two pools are":        {joins, `{"pipelines":{"b":{"phase":"Joining"},"a":{"phase":"Joining"}}}`, before + "NodePool a, b" + after},
		"it is new":            {joins, "", before + "its NodePool" + after},
		"its record is broken": {joins, "[", before + "its NodePool" + after},
	} {
		node := &corev1.Node{Spec: corev1.NodeSpec{Taints: c.taints}}
		node.Name, node.Annotations = "node1", map[string]string{"opcrew.io/nodepools": c.record}
		activitytest.Check(t, name+": what keeps pods out", StateOf(node).joins, c.want)
	}
}
