// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"cmp"
	"fmt"
	"slices"
)

// checkRevisions checks that revisions increase with time. If request B starts after the response to request A, the
// revision of B must be higher if B is a write, and must not be lower if B is a read. A and B may have different keys,
// so the check also detects that all writes to one key were lost.
func checkRevisions(ops []Op) []string {
	answered := slices.DeleteFunc(slices.Clone(ops), func(o Op) bool { return !o.Known })
	slices.SortFunc(answered, func(a, b Op) int { return cmp.Compare(a.Return, b.Return) })
	byCall := slices.Clone(answered)
	slices.SortFunc(byCall, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
	var out []string
	var last Op // the operation with the highest revision among those that were answered before op was called
	next := 0
	for _, op := range byCall {
		for ; next < len(answered) && answered[next].Return < op.Call; next++ {
			if answered[next].Revision > last.Revision {
				last = answered[next]
			}
		}
		if op.Revision < last.Revision || op.wrote() && op.Revision == last.Revision {
			out = append(out, fmt.Sprintf("revision %d was answered, then %d:\n%s", last.Revision, op.Revision, describe([]Op{last, op})))
		}
	}
	return first(slices.Concat(out, checkWriters(answered)))
}

// checkWriters reports a violation if two writes have the same revision.
func checkWriters(answered []Op) []string {
	var out []string
	writers := map[int64]Op{}
	for _, op := range answered {
		if !op.wrote() {
			continue
		}
		if other, ok := writers[op.Revision]; ok {
			out = append(out, fmt.Sprintf("revision %d is of two writes:\n%s", op.Revision, describe([]Op{other, op})))
		}
		writers[op.Revision] = op
	}
	return out
}

// violationsShown limits how many violations of one type are reported, because one lost revision causes hundreds of
// them.
const violationsShown = 5

func first(violations []string) []string {
	if n := len(violations) - violationsShown; n > 0 {
		return append(violations[:violationsShown:violationsShown], fmt.Sprintf("and %d more of this kind", n))
	}
	return violations
}
