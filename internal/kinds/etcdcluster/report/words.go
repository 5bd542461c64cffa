// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
)

// gone returns a clause that names all lost members, and the number of the other members that can still come back.
func gone(members []model.Member) string {
	var out strings.Builder
	for _, m := range members {
		if m.Lost != "" {
			out.WriteString("; " + m.Name + ": " + m.Lost)
		}
	}
	fmt.Fprintf(&out, "; only %d of the voters can still come back, so the cluster accepts no writes", recovery.Alive(members))
	return out.String()
}

// firstCause returns a clause that names a member that is not ready, and why. Lost members come first.
func firstCause(members []model.Member, paused bool) string {
	first := ""
	for _, m := range members {
		switch {
		case m.Lost != "":
			return "; " + m.Name + ": " + m.Lost
		case !m.Ready() && first == "":
			first = "; " + m.Name + cmp.Or(m.WhyNotReady(paused), ": it does not respond yet")
		}
	}
	return first
}

// plural returns the text in one if n is 1, and otherwise the number followed by the text in many, such as "3 members".
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", n, many)
}
