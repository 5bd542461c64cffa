// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// reportMove reports a move of slots until it is finished. Operators may restart during the move, and two may run for a
// moment. So the progress is computed from the slots that are left, and never decreases. Otherwise the two would keep
// overwriting each other's report.
func (in Ring) reportMove(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	const kind = redisv1alpha1.ConditionMigrating
	_, continues := in.Decision.Step.(redis.MoveSlots)
	switch failed, stuck := in.moveFailed(), in.standstill(); {
	case in.View.Moving() || failed != "":
		c.Status.Move = in.progress(c)
		set.True(kind, c.Status.Move.Reason, fmt.Sprintf("%d of %d slots have been moved, to spread them over %d pods%s", c.Status.Move.SlotsMoved, c.Status.Move.SlotsTotal, in.View.Move.Goal, failed))
	case c.Status.Move == nil || !slotsAreOpen(in.View) && !continues:
		set.Remove(kind)
		c.Status.Move = nil
	case stuck != "":
		set.True(kind, c.Status.Move.Reason, fmt.Sprintf("%d of %d slots have been moved; %s", c.Status.Move.SlotsMoved, c.Status.Move.SlotsTotal, stuck))
	}
}

// standstill returns why an interrupted move of slots does not continue; "" if it continues.
func (in Ring) standstill() string {
	waits, stands := in.Decision.Refusal(ring.Fenced, ring.Election)
	if in.View.Moving() || in.Decision.Step != nil || !stands {
		return ""
	}
	return waits.Message
}

// moveFailed returns why the last move of slots failed, if opcrew will try again; otherwise "".
func (in Ring) moveFailed() string {
	_, waits := in.Decision.Refusal(ring.Moving)
	if move := in.View.Move; move == nil || !move.Ended || !move.Failed() || !waits && in.Decision.Step == nil {
		return ""
	}
	return "; the last attempt failed: " + in.View.Move.Err.Error()
}

// progress returns how many slots of a move are done. It uses the previous report and the number of slots that are not
// at their destination yet. It cannot use only the current move (in.View.Move), which may be the rest of an interrupted
// move.
func (in Ring) progress(c *redisv1alpha1.RedisEnterpriseCluster) *redisv1alpha1.Move {
	move, reported := in.View.Move, c.Status.Move
	left, known := ring.ToMove(in.View, in.Decision.Ring)
	if !known {
		left = move.Slots - move.Moved
	}
	reason := purpose(move, int(c.Status.Nodes))
	if reported != nil && left <= int(reported.SlotsTotal) && (reason == reported.Reason || reason == redisv1alpha1.ReasonRebalancing) {
		out := reported.DeepCopy()
		out.SlotsMoved = max(reported.SlotsMoved, reported.SlotsTotal-int32(left))
		return out
	}
	began := metav1.NewTime(move.Began)
	return &redisv1alpha1.Move{Reason: reason, SlotsMoved: int32(move.Moved), SlotsTotal: int32(move.Moved + left), StartedAt: &began}
}

// purpose returns why slots are moved: to add pods, to remove pods, or to rebalance. pods is the current number of
// pods; move.Goal is the number of pods after the move.
func purpose(move *redis.Progress, pods int) string {
	switch {
	case pods > move.Goal:
		return redisv1alpha1.ReasonScalingDown
	case move.Shards < move.Goal:
		return redisv1alpha1.ReasonScalingUp
	}
	return redisv1alpha1.ReasonRebalancing
}

// slotsAreOpen reports whether any primary is moving slots, no matter whether opcrew or another client started the
// move. It ignores what replicas report, because this may be outdated.
func slotsAreOpen(view redis.View) bool {
	for _, status := range view.Nodes {
		if status.Role == redis.Primary && len(status.Migrating)+len(status.Importing)+len(status.Jobs) > 0 {
			return true
		}
	}
	return false
}
