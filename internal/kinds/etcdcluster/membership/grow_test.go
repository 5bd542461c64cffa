// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

func TestASuccessorIsAddedBeforeItsMemberIsRemoved(t *testing.T) {
	superseded := func(m *model.Member) { m.Superseded = true }
	surge := func(in *Input) *Input { in.Surge = true; return in }
	for name, test := range map[string]struct {
		in   *Input
		want string
	}{
		"there are enough":           {surge(healthy(3)), "nothing"},
		"there are too few":          {sized(healthy(3), 4), "add a member"},
		"one is to be replaced":      {surge(healthy(3, superseded)), "add a member"},
		"but not now":                {healthy(3, superseded), "nothing"},
		"and its successor is there": {surge(sized(healthy(4, superseded), 3)), "nothing"},
	} {
		if got := says(Grow(test.in)); got != test.want {
			t.Errorf("%s: expected to %s, got %s", name, test.want, got)
		}
	}
}
