// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// reportMove says how far slots have been moved, from when the first is open until none is. A move may be begun again,
// by another process too, and two that lead for a moment may both move slots: what is told follows from how many are
// left and never goes back, so that they do not tell each its own over the other's all the time.
func (f facts) reportMove(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision) {
	const kind = redisv1alpha1.ConditionMigrating
	_, goesOn := d.step.(redis.MoveSlots)
	switch failed, stuck := f.moveFailed(d), f.standstill(d); {
	case f.view.Moving() || failed != "":
		c.Status.Move = f.moved(c, d)
		set.True(kind, c.Status.Move.Reason, fmt.Sprintf("%d of %d slots have been moved, for %d pods%s", c.Status.Move.SlotsMoved, c.Status.Move.SlotsTotal, f.view.Move.Goal, failed))
	case c.Status.Move == nil || !f.slotsAreOpen() && !goesOn:
		set.Remove(kind)
		c.Status.Move = nil
	case stuck != "":
		set.True(kind, c.Status.Move.Reason, fmt.Sprintf("%d of %d slots have been moved; %s", c.Status.Move.SlotsMoved, c.Status.Move.SlotsTotal, stuck))
	}
}

// standstill says why slots that are on their way are not moved on; "" while they are, or are about to be.
func (f facts) standstill(d decision) string {
	waits, stands := d.refusal(ring.Fenced, ring.Election)
	if f.view.Moving() || d.step != nil || !stands {
		return ""
	}
	return waits.Message
}

// moveFailed says why the last move of slots has failed, while another one is to follow; "" if there is none such.
func (f facts) moveFailed(d decision) string {
	_, waits := d.refusal(ring.Moving)
	if move := f.view.Move; move == nil || !move.Ended || !move.Failed() || !waits && d.step == nil {
		return ""
	}
	return "; last: " + f.view.Move.Err.Error()
}

// moved is how far a move is, by what is informed of it so far and by how many slots are not in their places yet: the move
// that goes on may be of a few that were left open.
func (f facts) moved(c *redisv1alpha1.RedisEnterpriseCluster, d decision) *redisv1alpha1.Move {
	move, told := f.view.Move, c.Status.Move
	left, known := ring.ToMove(f.view, d.ring)
	if !known {
		left = move.Slots - move.Moved
	}
	reason := whither(move, int(c.Status.Nodes))
	if told != nil && left <= int(told.SlotsTotal) && (reason == told.Reason || reason == redisv1alpha1.ReasonRebalancing) {
		out := told.DeepCopy()
		out.SlotsMoved = max(told.SlotsMoved, told.SlotsTotal-int32(left))
		return out
	}
	began := metav1.NewTime(move.Began)
	return &redisv1alpha1.Move{Reason: reason, SlotsMoved: int32(move.Moved), SlotsTotal: int32(move.Moved + left), StartedAt: &began}
}

// whither is what a move is for, of a cluster of so many pods.
func whither(move *redis.Progress, pods int) string {
	switch {
	case pods > move.Goal:
		return redisv1alpha1.ReasonScalingDown
	case move.Shards < move.Goal:
		return redisv1alpha1.ReasonScalingUp
	}
	return redisv1alpha1.ReasonRebalancing
}

// slotsAreOpen reports whether some are on their way, anyone who moves them. What replicas say of that may be old.
func (f facts) slotsAreOpen() bool {
	for _, status := range f.view.Nodes {
		if status.Role == redis.Primary && len(status.Migrating)+len(status.Importing)+len(status.Jobs) > 0 {
			return true
		}
	}
	return false
}
