// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
)

func TestEventsNameTheVersionsOfAnUpgrade(t *testing.T) {
	type versions struct{ current, target string }
	for name, test := range map[string]struct {
		before, after versions
		want          string
	}{
		"it begins":               {versions{"3.4.44", ""}, versions{"3.4.44", "3.5.35"}, "ClusterUpgrading: opcrew is changing the members from version 3.4.44 to 3.5.35, one at a time"},
		"the next step begins":    {versions{"3.4.44", "3.5.35"}, versions{"3.5.35", "3.6.16"}, "ClusterUpgrading: opcrew is changing the members from version 3.5.35 to 3.6.16, one at a time"},
		"it goes on":              {versions{"3.4.44", "3.5.35"}, versions{"3.4.44", "3.5.35"}, ""},
		"it ends":                 {versions{"3.4.44", "3.5.35"}, versions{"3.5.35", ""}, "ClusterUpgraded: All members run version 3.5.35"},
		"it is taken back":        {versions{"3.4.44", "3.5.35"}, versions{"3.4.44", ""}, ""},
		"nothing of it is known":  {versions{"", ""}, versions{"3.5.35", ""}, ""},
		"it was taken back whole": {versions{"3.4.44", "3.4.44"}, versions{"3.4.44", ""}, "ClusterUpgraded: All members run version 3.4.44"},
	} {
		before, after := clustertest.New(), clustertest.New()
		before.Status.CurrentVersion, before.Status.TargetVersion = test.before.current, test.before.target
		after.Status.CurrentVersion, after.Status.TargetVersion = test.after.current, test.after.target
		got := ""
		for _, event := range (&reconciler{}).transitions(before, after) {
			got = event.Reason + ": " + event.Note
		}
		if got != test.want {
			t.Errorf("%s: expected the event %q, got %q", name, test.want, got)
		}
	}
}
