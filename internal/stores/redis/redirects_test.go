// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"errors"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestTheEndOfRedirectsAfterAMoveMatters(t *testing.T) {
	after := func(move, redirect time.Duration) View {
		view := View{At: noon.Add(move), Move: &Progress{Ended: true, EndedAt: noon}, Nodes: map[string]NodeStatus{"a": {ID: "a"}}}
		if redirect > 0 {
			view.Nodes["a"] = NodeStatus{ID: "a", Redirected: noon.Add(redirect)}
		}
		return view
	}
	const s = time.Second
	for name, test := range map[string]struct {
		before, now View
		matters     bool
		interval    time.Duration
	}{
		"none came":                  {after(s, 0), after(2*s, 0), true, rested},
		"none came yet":              {after(s, 0), after(s+eager, 0), false, eager},
		"the last was a while ago":   {after(4*s, 3*s), after(5*s, 3*s), true, rested},
		"one came again":             {after(3*s, 0), after(4*s, 4*s), true, eager},
		"they go on for too long":    {after(14*s, 14*s), after(15*s, 15*s), true, rested},
		"they go on long afterwards": {after(60*s, 60*s), after(62*s, 62*s), false, rested},
	} {
		t.Run(name, func(t *testing.T) {
			if got := !alike(test.before, test.now); got != test.matters {
				t.Errorf("expected the look to matter: %t", test.matters)
			}
			test.now.Nodes["a"] = NodeStatus{ID: "a", Role: Primary, ClusterOK: true, Redirected: test.now.Nodes["a"].Redirected}
			if got := DefaultInterval(test.now); got != test.interval {
				t.Errorf("expected the next look after %s, got %s", test.interval, got)
			}
		})
	}
}

func TestARedirectIsSeenByTheCountOfAServer(t *testing.T) {
	node := Node{Address: "10.0.0.1:6379"}
	for name, test := range map[string]struct {
		looks []NodeStatus
		last  int // the read that saw the last redirect, counted from 1; 0 for none
	}{
		"it redirects no client":        {[]NodeStatus{{}, {}, {}}, 0},
		"it redirected some before":     {[]NodeStatus{{Redirects: 7}, {Redirects: 7}}, 1},
		"it redirects one more":         {[]NodeStatus{{Redirects: 7}, {Redirects: 8}, {Redirects: 8}}, 2},
		"it does not answer":            {[]NodeStatus{{Redirects: 7}, {Err: errors.New("i/o timeout")}, {Redirects: 7}}, 1},
		"it is started again":           {[]NodeStatus{{Redirects: 7}, {}, {}}, 2},
		"it does not count them":        {[]NodeStatus{{Redirects: -1}, {Redirects: -1}, {Redirects: -1}}, 3},
		"it does not count them at all": {[]NodeStatus{{}, {Redirects: -1}, {}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := &looker{}
			target := Target{Nodes: []Node{node}}
			for i, status := range test.looks {
				nodes := map[string]NodeStatus{node.Address: status}
				c.countRedirects(noon.Add(time.Duration(i+1)*time.Second), target, nodes)
				c.remember(target, nodes)
			}
			var want time.Time
			if test.last > 0 {
				want = noon.Add(time.Duration(test.last) * time.Second)
			}
			if got := c.last[node].Redirected; !got.Equal(want) {
				t.Errorf("expected the last redirect to be seen at %s, got %s", want, got)
			}
		})
	}
}
