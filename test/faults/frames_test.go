// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// framesOf returns frames for events that are written as "ADDED a 1": type, name and version of the object.
func framesOf(t *testing.T, events ...string) []frame {
	t.Helper()
	var frames []frame
	for _, event := range events {
		var kind, name, version string
		if _, err := fmt.Sscan(event, &kind, &name, &version); err != nil {
			t.Fatal(err)
		}
		f, err := decodeFrame(json.RawMessage(fmt.Sprintf(`{"type":%q,"object":{"metadata":{"name":%q,"resourceVersion":%q}}}`, kind, name, version)))
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, f)
	}
	return frames
}

func TestCoalescedEventsAreThoseOfARelist(t *testing.T) {
	tests := []struct {
		name       string
		held, want []string
	}{
		{"nothing", nil, nil},
		{"the last of several changes", []string{"MODIFIED a 1", "MODIFIED b 2", "MODIFIED a 3"}, []string{"MODIFIED b 2", "MODIFIED a 3"}},
		{"what came and changed has come", []string{"ADDED a 1", "MODIFIED a 2"}, []string{"ADDED a 2"}},
		{"what came and went was never there", []string{"ADDED a 1", "DELETED a 2"}, nil},
		{"what changed and went has gone", []string{"MODIFIED a 1", "DELETED a 2"}, []string{"DELETED a 2"}},
		{"what went and came has changed", []string{"DELETED a 1", "ADDED a 2"}, []string{"MODIFIED a 2"}},
		{"what went, came and went has gone", []string{"DELETED a 1", "ADDED a 2", "DELETED a 3"}, []string{"DELETED a 3"}},
		{"every bookmark stays", []string{"BOOKMARK x 1", "ADDED a 2", "BOOKMARK x 3"}, []string{"BOOKMARK x 1", "ADDED a 2", "BOOKMARK x 3"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range coalesce(framesOf(t, test.held...)) {
				m := metadataOf(f.object)
				got = append(got, fmt.Sprintf("%s %s %s", f.kind, m.Name, m.ResourceVersion))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("expected %q, got %q", test.want, got)
			}
		})
	}
}
