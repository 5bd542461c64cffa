// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// Placement reports which pods would fail together, such as pods on the same node. While primaries and replicas are
// changing places, the previous report stays.
func (in Ring) Placement(set condition.Set, places []workload.Place) {
	before := meta.FindStatusCondition(*set.Conditions, common.ConditionPlacement)
	if in.Servers.Shards() == 0 || before != nil && (in.IsOld() || !in.Decision.Why.Done()) {
		return
	}
	workload.ReportPlacement(set, places, costOf(in.Servers))
}

// costOf returns a function that describes what the cluster loses if some pods fail: the only copies of shards, or the
// majority of the primaries. Without that majority, no replica can be elected.
func costOf(all observed.Servers) func(lost []string) workload.Cost {
	return func(lost []string) workload.Cost {
		gone := func(s observed.Server) bool { return slices.Contains(lost, s.Pod) }
		var harm, shards []string
		primaries := 0
		for _, s := range all {
			if !s.Leads() || !gone(s) {
				continue
			}
			primaries++
			if !slices.ContainsFunc(all, func(o observed.Server) bool { return o.Answers && o.Shard == s.Shard && !gone(o) }) {
				shards = append(shards, s.Slots.String())
			}
		}
		if len(shards) > 0 {
			harm = append(harm, "every copy of slots "+strings.Join(shards, ", "))
		}
		if 2*primaries >= int(all.Shards()) && primaries > 0 {
			harm = append(harm, fmt.Sprintf("the majority of the primaries (%d of %d are lost)", primaries, all.Shards()))
		}
		words := fmt.Sprintf("%d of %d pods", len(lost), len(all)/2)
		if len(harm) == 0 {
			return workload.Cost{Words: words}
		}
		return workload.Cost{Words: words + ": " + strings.Join(harm, ", and "), Harms: true}
	}
}
