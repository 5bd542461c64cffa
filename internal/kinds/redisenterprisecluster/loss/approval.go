// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loss handles slots whose data is lost: how the status reports them, and how a user accepts the loss.
// internal/stores/redis/ring decides which slots are lost.
package loss

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

const (
	// maxText is how long the list of slots may be. Longer lists are replaced by one range that spans them all, as a
	// truncated command would be useless.
	maxText = 400
	// digestLength is how many characters of a hash of the slots follow the token of a command with such a range.
	digestLength = 8
	// maxQuoted is how many characters of the user's annotation a message repeats.
	maxQuoted = 100
)

// Approval holds which lost slots the user has given up.
type Approval struct {
	// Slots are the slots whose data the user gives up.
	Slots redis.Slots
	// Problem explains why the annotation has no effect; "" if it has, or there is none.
	Problem string
}

// Approve reads the approval of the loss that the status reports. A loss that is not in the status yet cannot be
// approved.
func Approve(c *redisv1alpha1.RedisEnterpriseCluster, lost func() redis.Slots) Approval {
	reported := Reported(c)
	if reported == nil {
		return Approval{}
	}
	return approvalOf(c, lost(), reported.LastTransitionTime.Time)
}

// approvalOf reads the annotation, for a loss of slots that was first reported at a given time.
func approvalOf(c *redisv1alpha1.RedisEnterpriseCluster, lost redis.Slots, at time.Time) Approval {
	value := c.Annotations[redisv1alpha1.AcceptDataLossAnnotation]
	if value == "" {
		return Approval{}
	}
	text, token, _ := strings.Cut(value, "@")
	slots, err := redis.ParseSlots(text)
	_, wanted := argument(lost, at)
	quoted := strconv.Quote(condition.Cut(value, maxQuoted))
	switch {
	case err != nil || token == "":
		return Approval{Problem: fmt.Sprintf("; the existing annotation %s cannot be read", quoted)}
	case token != wanted:
		return Approval{Problem: fmt.Sprintf("; the existing annotation %s refers to another loss", quoted)}
	}
	return Approval{Slots: slots}
}

// Reported returns the condition that last reported lost slots; nil if there is none.
func Reported(c *redisv1alpha1.RedisEnterpriseCluster) *metav1.Condition {
	found := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionDataAtRisk)
	if found == nil || found.Status != metav1.ConditionTrue || found.Reason != redisv1alpha1.ReasonDataMissing {
		return nil
	}
	return found
}

// tokenOf returns the token of a loss: when it was first reported, in seconds.
func tokenOf(at time.Time) string { return strconv.FormatInt(at.Unix(), 36) }

// argument returns what the command names: the lost slots and the token. Too many ranges are replaced by one that spans
// them all. Its token then has a hash of exactly the lost slots, as other slots in the range may be lost later.
func argument(lost redis.Slots, at time.Time) (slots, token string) {
	slots, token = lost.String(), tokenOf(at)
	if len(slots) <= maxText {
		return slots, token
	}
	span := redis.SlotRange{First: lost[0].First, Last: lost[len(lost)-1].Last}
	return span.String(), token + "-" + desired.Hash(slots)[:digestLength]
}

// isUsed reports whether none of the slots that the user gave up is still lost.
func (a Approval) isUsed(lost redis.Slots) bool {
	return len(a.Slots) > 0 && len(lost.Within(a.Slots)) == 0
}
