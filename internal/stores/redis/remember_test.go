// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"errors"
	"testing"
)

func TestWhomAReplicaCopiesIsRememberedForAsLongAsItMayRun(t *testing.T) {
	var (
		node     = Node{Address: "10.0.0.2:6380", Pod: 1, Place: Guest}
		replica  = NodeStatus{ID: "replica", RunID: "first", Role: Replica, PrimaryID: "primary", Source: "10.0.0.1:6379"}
		moved    = NodeStatus{ID: "replica", RunID: "first", Role: Replica, PrimaryID: "primary", Source: "10.0.0.3:6379"}
		silent   = NodeStatus{Err: errors.New("i/o timeout")}
		loading  = NodeStatus{Loading: true, RunID: "first"}
		redirect = NodeStatus{Loading: true, RunID: "first", Source: "10.0.0.9:6379"}
		again    = NodeStatus{Loading: true, RunID: "second"}
	)
	for name, test := range map[string]struct {
		looks           []NodeStatus
		copies, primary string
	}{
		"it does not answer any more":      {[]NodeStatus{replica, silent}, "10.0.0.1:6379", "primary"},
		"nor for long":                     {[]NodeStatus{replica, silent, silent, silent}, "10.0.0.1:6379", "primary"},
		"it gets all that its primary has": {[]NodeStatus{replica, loading}, "10.0.0.1:6379", "primary"},
		"it gets all that another has, and does not say who that is": {[]NodeStatus{replica, redirect, silent}, "10.0.0.9:6379", ""},
		"it follows who moved":  {[]NodeStatus{replica, silent, moved}, "10.0.0.3:6379", "primary"},
		"it is started again":   {[]NodeStatus{replica, again}, "", ""},
		"and does not answer":   {[]NodeStatus{replica, again, silent}, "", ""},
		"it has never answered": {[]NodeStatus{silent, silent}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := &looker{}
			for _, status := range test.looks {
				c.remember(Target{Nodes: []Node{node}}, map[string]NodeStatus{node.Address: status})
			}
			if last := c.last[node]; last.Source != test.copies || last.PrimaryID != test.primary {
				t.Errorf("expected it to be taken to copy %q for %q, got %q for %q", test.copies, test.primary, last.Source, last.PrimaryID)
			}
		})
	}
}

func TestAProcessIsNotConfusedWithThePreviousOneAtItsAddress(t *testing.T) {
	const at = "10.0.0.2:6380"
	c := &looker{}
	look := func(pod int, status NodeStatus) NodeStatus {
		nodes := map[string]NodeStatus{at: status}
		c.remember(Target{Nodes: []Node{{Address: at, Pod: pod, Place: Guest}}}, nodes)
		return nodes[at]
	}
	look(1, NodeStatus{ID: "replica", RunID: "first", Role: Replica, PrimaryID: "primary", Source: "10.0.0.1:6379"})
	if got := look(4, NodeStatus{Err: errors.New("connection refused")}); got.Source != "" {
		t.Errorf("expected nothing to be known of a process that has not answered, got that it copies %s", got.Source)
	}
}
