// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"strings"
	"testing"
)

func TestVersionsAreRaisedOneMinorAtATimeAndNeverLowered(t *testing.T) {
	for _, test := range []struct {
		from, to, path, want, wrong string
	}{
		{from: "3.4.23", to: "3.4.23", want: "3.4.23"},
		{from: "3.4.23", to: "3.4.44", want: "3.4.44"},
		{from: "3.4.44", to: "3.4.23", want: "3.4.23"},
		{from: "3.4.23", to: "3.5.35", want: "3.5.35"},
		{from: "3.4.23", to: "3.7.3", want: "3.5.35"},
		{from: "3.4.23", to: "3.7.3", path: "v3.5.30", want: "3.5.30"},
		{from: "3.4.23", to: "3.7.3", path: "3.5.9", want: "3.5.35"}, // etcd 3.5.9 is too old for an upgrade to 3.6
		{from: "3.5.35", to: "3.7.3", want: "3.6.16"},
		{from: "3.5.9", to: "3.6.16", want: "3.5.35"},
		{from: "3.6.3", to: "3.7.3", want: "3.6.16"},
		{from: "3.1.10", to: "3.2.13", want: "3.2.13"},
		{from: "3.6.16", to: "3.5.35", wrong: "downgrade to 3.5.35 is not possible"},
		{from: "3.6.16", to: "4.0.0", wrong: "cannot change from version 3.6.16 to 4.0.0"},
		{from: "3.7.3", to: "3.9.0", wrong: "must pass through 3.8, of which opcrew knows no patch version; name one in spec.upgradePath"},
		{from: "3.7.3", to: "3.9.0", path: "3.8.1", want: "3.8.1"},
		{from: "3.5.35", to: "latest", wrong: `version "latest" is not a number of three parts`},
		{from: "3.5.35", to: "3", wrong: "is not a number of three parts"},
	} {
		var path []string
		if test.path != "" {
			path = []string{test.path}
		}
		got, err := Next(test.from, test.to, path)
		switch {
		case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
			t.Errorf("from %s to %s: expected %q, got %q (%v)", test.from, test.to, test.wrong, got, err)
		case test.wrong == "" && (err != nil || got != test.want):
			t.Errorf("from %s to %s by way of %q: expected %s next, got %q (%v)", test.from, test.to, test.path, test.want, got, err)
		}
	}
}

func TestWhatAVersionCanIsKnown(t *testing.T) {
	for version, want := range map[string][2]bool{
		"3.2.13": {false, false}, "3.3.27": {false, true}, "3.4.0": {true, true}, "3.7.3": {true, true},
	} {
		if HasLearners(version) != want[0] || HasMetricsListener(version) != want[1] {
			t.Errorf("%s: expected learners %v and a listener for metrics %v", version, want[0], want[1])
		}
	}
}
