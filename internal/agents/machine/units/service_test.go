// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package units

import "testing"

func TestTheStateOfAUnitIsRead(t *testing.T) {
	for out, want := range map[string]struct {
		service        Service
		canStart, runs bool
	}{
		"LoadState=loaded\nActiveState=active\n":      {Service{"loaded", "active"}, true, true},
		"ActiveState=failed\nLoadState=not-found\n":   {Service{NotFound, "failed"}, false, false},
		"LoadState=masked\nActiveState=activating\n":  {Service{Masked, "activating"}, false, true},
		"LoadState=loaded\nActiveState=inactive\n\n":  {Service{"loaded", "inactive"}, true, false},
		"LoadState=loaded\nActiveState=reloading\n\n": {Service{"loaded", "reloading"}, true, true},
	} {
		got := parseService(out)
		if got != want.service || got.CanStart() != want.canStart || got.Runs() != want.runs {
			t.Errorf("%q: expected %+v, got %+v", out, want, got)
		}
	}
}
