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

// reportMove reports the progress of a move of slots, from when the first slot is open until none is. Another process may begin
// the move again, and two leaders may move slots for a moment. So the progress follows from how many slots are left and never
// decreases: else both would overwrite each other's report without end.
func (in Ring) reportMove(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	const kind = redisv1alpha1.ConditionMigrating
	_, continues := in.Decision.Step.(redis.MoveSlots)
	switch failed, stuck := in.moveFailed(), in.standstill(); {
	case in.View.Moving() || failed != "":
		c.Status.Move = in.progress(c)
		set.True(kind, c.Status.Move.Reason, fmt.Sprintf("%d of %d slots have been moved, for %d pods%s", c.Status.Move.SlotsMoved, c.Status.Move.SlotsTotal, in.View.Move.Goal, failed))
	case c.Status.Move == nil || !slotsAreOpen(in.View) && !continues:
		set.Remove(kind)
		c.Status.Move = nil
	case stuck != "":
		set.True(kind, c.Status.Move.Reason, fmt.Sprintf("%d of %d slots have been moved; %s", c.Status.Move.SlotsMoved, c.Status.Move.SlotsTotal, stuck))
	}
}

// standstill is why open slots are not moved on; "" while they are, or are about to be.
func (in Ring) standstill() string {
	waits, stands := in.Decision.Refusal(ring.Fenced, ring.Election)
	if in.View.Moving() || in.Decision.Step != nil || !stands {
		return ""
	}
	return waits.Message
}

// moveFailed is why the last move of slots failed, if another one follows; "" if not.
func (in Ring) moveFailed() string {
	_, waits := in.Decision.Refusal(ring.Moving)
	if move := in.View.Move; move == nil || !move.Ended || !move.Failed() || !waits && in.Decision.Step == nil {
		return ""
	}
	return "; last: " + in.View.Move.Err.Error()
}

// progress is how far a move is, by what was reported so far and by how many slots are not in their places yet: the present
// move may be of a few slots that an earlier one left open.
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

// purpose is what a move is for, in a cluster of so many pods.
func purpose(move *redis.Progress, pods int) string {
	switch {
	case pods > move.Goal:
		return redisv1alpha1.ReasonScalingDown
	case move.Shards < move.Goal:
		return redisv1alpha1.ReasonScalingUp
	}
	return redisv1alpha1.ReasonRebalancing
}

// slotsAreOpen reports whether slots are on their way, whichever process moves them. What replicas report of that may be old.
func slotsAreOpen(view redis.View) bool {
	for _, status := range view.Nodes {
		if status.Role == redis.Primary && len(status.Migrating)+len(status.Importing)+len(status.Jobs) > 0 {
			return true
		}
	}
	return false
}
