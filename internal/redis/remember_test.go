// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"errors"
	"testing"
)

func TestWhomAReplicaCopiesIsRememberedForAsLongAsItMayRun(t *testing.T) {
	const at = "10.0.0.2:6380"
	replica := NodeStatus{ID: "replica", RunID: "first", Role: Replica, PrimaryID: "primary", Source: "10.0.0.1:6379"}
	silent := NodeStatus{Err: errors.New("i/o timeout")}
	type looks []map[string]NodeStatus
	for name, test := range map[string]struct {
		looks  looks
		copies string
	}{
		"it does not answer any more":       {looks{{at: replica}, {at: silent}}, "10.0.0.1:6379"},
		"nor for long":                      {looks{{at: replica}, {at: silent}, {at: silent}, {at: silent}}, "10.0.0.1:6379"},
		"it gets all that its primary has":  {looks{{at: replica}, {at: {Loading: true, RunID: "first"}}}, "10.0.0.1:6379"},
		"it follows another since":          {looks{{at: replica}, {at: {Loading: true, RunID: "first", Source: "10.0.0.9:6379"}}}, "10.0.0.9:6379"},
		"it is started again":               {looks{{at: replica}, {at: {Loading: true, RunID: "second"}}}, ""},
		"and does not answer":               {looks{{at: replica}, {at: {Loading: true, RunID: "second"}}, {at: silent}}, ""},
		"it has left":                       {looks{{at: replica}, {}, {at: silent}}, ""},
		"it has never answered":             {looks{{at: silent}, {at: silent}}, ""},
		"it answers, and follows who moved": {looks{{at: replica}, {at: silent}, {at: {ID: "replica", RunID: "first", Role: Replica, PrimaryID: "primary", Source: "10.0.0.3:6379"}}}, "10.0.0.3:6379"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{}
			for _, nodes := range test.looks {
				c.remember(nodes)
			}
			last := c.last[at]
			if last.Source != test.copies {
				t.Errorf("expected it to be taken to copy %q, got %q", test.copies, last.Source)
			}
			if (last.Role == Replica && last.PrimaryID == "primary") != (test.copies != "") {
				t.Errorf("expected who it is to be remembered with whom it copies, got %s of %q", last.Role, last.PrimaryID)
			}
		})
	}
}
