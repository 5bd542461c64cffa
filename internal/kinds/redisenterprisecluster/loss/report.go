// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"fmt"
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Report sets the condition that lists the lost slots and explains how to continue without their data. The condition
// stays until the slots are served. Each loss has its own token, so that a user who accepts one loss does not accept a
// later one. because is a clause that Report appends to the message.
func (a Approval) Report(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, missing ring.Loss, because string) {
	const kind = redisv1alpha1.ConditionDataAtRisk
	at, reported := set.Now, Reported(c)
	isNew := reported == nil || a.isUsed(missing.Slots)
	if isNew {
		set.Remove(kind)
	} else {
		at = reported.LastTransitionTime.Time
	}
	switch {
	case missing.Waits == "":
		set.True(kind, redisv1alpha1.ReasonDataMissing, text(c, missing.Slots, at, because))
	case !isNew:
		set.True(kind, reported.Reason, reported.Message)
	}
}

func text(c *redisv1alpha1.RedisEnterpriseCluster, lost redis.Slots, at time.Time, because string) string {
	approval := approvalOf(c, lost, at)
	slots, token := argument(lost, at)
	left := lost.Without(approval.Slots)
	if len(left) == 0 {
		return fmt.Sprintf("The data of slots %s is lost, and the annotation accepts the loss: the slots will be served again without the lost data%s", slots, because)
	}
	if len(approval.Slots) > 0 {
		approval.Problem = "; the annotation names other slots, or only some of these"
	}
	return fmt.Sprintf("The data of slots %s is lost: no server has a copy of it%s. If a volume with this data exists, restore it. "+
		"To go on without the data: kubectl annotate --overwrite rec %s -n %s %s=%s@%s",
		slots, approval.Problem, c.Name, c.Namespace, redisv1alpha1.AcceptDataLossAnnotation, slots, token)
}
