// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package clusternodes

import (
	"strings"
	"testing"
	"unicode"
)

func FuzzParse(f *testing.F) {
	f.Add(table)
	f.Add("aaa fd00::1:6379@1,h,shard-id=1 myself,master - 0 0 18446744073709551615 connected 0-16383 0-16383 [1->-b] [99999->-b] [x]\n")
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := Parse(text)
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("the error is as long as %d bytes", len(err.Error()))
			}
			return
		}
		slots := 0
		for _, n := range nodes {
			slots += n.SlotCount()
			if strings.ContainsFunc(n.ID+n.Address+n.Hostname+n.Primary, unicode.IsControl) || len(n.Unreadable) > mostUnreadable {
				t.Errorf("%q is read as %+v", text, n)
			}
		}
		if slots > mostSlots || len(nodes) > mostNodes {
			t.Errorf("%q has %d slots and %d nodes", text, slots, len(nodes))
		}
		_, _ = Myself(nodes)
	})
}
