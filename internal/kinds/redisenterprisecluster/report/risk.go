// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/loss"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// reportRisk sets the condition DataAtRisk if data is missing or the next restart would lose data. Data on a server
// that does not answer does not count as missing. If the view is incomplete or outdated, the previous report stays.
func (in Ring) reportRisk(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	const kind = redisv1alpha1.ConditionDataAtRisk
	if in.View.Stale || in.View.Err != nil {
		return
	}
	missing := ring.Missing(in.View, in.Decision.Ring)
	clash, contested := in.Decision.Refusal(ring.Twins, ring.Unrelated)
	wait := in.Decision.Wait
	switch {
	case contested:
		set.True(kind, redisv1alpha1.ReasonDataContested, clash.Message)
	case observed.Formed(c) && len(missing.Slots) > 0 && (missing.Waits == "" || loss.Reported(c) != nil):
		in.Decision.Approval.Report(set, c, missing, in.Decision.Because())
	case wait.Reason != "":
		set.True(kind, wait.Reason, wait.Message)
	default:
		set.Remove(kind)
	}
}
