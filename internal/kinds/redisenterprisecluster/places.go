// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// reportPlacement says which pods would be lost together. Who leads and who follows changes while something is done to
// the ring; what was last told stands until that is done.
func (f facts) reportPlacement(set condition.Set, d decision) {
	told := meta.FindStatusCondition(*set.Conditions, common.ConditionPlacement)
	if d.servers.shards() == 0 || told != nil && (f.isOld() || !d.why.Done()) {
		return
	}
	workload.ReportPlacement(set, f.places, costOf(d.servers))
}

// costOf says what the loss of some pods costs: shards of which no copy is left, and, as those that are left elect no one
// then, the majority of the primaries.
func costOf(all servers) func(lost []string) workload.Cost {
	return func(lost []string) workload.Cost {
		gone := func(s server) bool { return slices.Contains(lost, s.pod) }
		var harm, shards []string
		primaries := 0
		for _, s := range all {
			if !s.leads() || !gone(s) {
				continue
			}
			primaries++
			if !slices.ContainsFunc(all, func(o server) bool { return o.answers && o.shard == s.shard && !gone(o) }) {
				shards = append(shards, s.slots.String())
			}
		}
		if len(shards) > 0 {
			harm = append(harm, "every copy of slots "+strings.Join(shards, ", "))
		}
		if 2*primaries >= int(all.shards()) && primaries > 0 {
			harm = append(harm, fmt.Sprintf("the majority of the primaries (%d of %d are lost)", primaries, all.shards()))
		}
		words := fmt.Sprintf("%d of %d pods", len(lost), len(all)/2)
		if len(harm) == 0 {
			return workload.Cost{Words: words}
		}
		return workload.Cost{Words: words + ": " + strings.Join(harm, ", and "), Harms: true}
	}
}
