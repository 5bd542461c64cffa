// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

func TestTheMemberThatIsLeastOfUseIsRemovedFirst(t *testing.T) {
	superseded := func(m *model.Member) { m.Superseded, m.Outdated = true, true }
	outdated := func(m *model.Member) { m.Outdated = true }
	cordoned := func(m *model.Member) { m.Node = &model.Node{Cordoned: true} }
	both := func(m *model.Member) { superseded(m); cordoned(m) }
	for name, test := range map[string]struct {
		in   *Input
		want string
	}{
		"none is too many":               {healthy(3), "nothing"},
		"the newest":                     {sized(healthy(3), 2), "remove member c"},
		"one with an outdated pod":       {sized(healthy(3, nil, outdated), 2), "remove member b"},
		"one that is to be replaced":     {sized(healthy(4, nil, superseded, nil, outdated), 3), "remove member b"},
		"one on a cordoned node":         {sized(healthy(3, nil, cordoned), 2), "remove member b"},
		"cordoned goes before outdated":  {sized(healthy(4, nil, cordoned, outdated), 3), "remove member b"},
		"replaced goes before cordoned":  {sized(healthy(4, nil, superseded, cordoned), 3), "remove member b"},
		"the cordoned of two of them":    {sized(healthy(4, nil, both, superseded), 3), "remove member b"},
		"the newest of the cordoned":     {sized(healthy(4, nil, cordoned, cordoned), 3), "remove member c"},
		"a cordoned leader hands over":   {sized(healthy(3, cordoned), 2), "move the leadership to b"},
		"a cordon, and none is too many": {healthy(3, nil, cordoned), "nothing"},
		"a leader hands over first":      {sized(healthy(2, superseded), 1), "move the leadership to b"},
		"the spec is invalid":            {func() *Input { in := sized(healthy(3), 2); in.KeepSize = true; return in }(), "nothing"},
		"the newer of two of the same":   {sized(healthy(4, nil, superseded, superseded), 3), "remove member c"},
	} {
		if got := says(Shrink(test.in)); got != test.want {
			t.Errorf("%s: expected to %s, got %s", name, test.want, got)
		}
	}
}

func TestTheEventOfARemovedMemberSaysThatItsNodeIsCordoned(t *testing.T) {
	cordoned := func(m *model.Member) { m.Node = &model.Node{Cordoned: true} }
	for says, in := range map[bool]*Input{true: healthy(3, nil, cordoned), false: healthy(3)} {
		note := Shrink(sized(in, 2)).Step.Note
		if strings.Contains(note, "its node is cordoned") != says {
			t.Errorf("expected the event to name a cordoned node: %v, got %q", says, note)
		}
	}
}
