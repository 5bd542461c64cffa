// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loss is about slots whose data is lost: how the status reports them, and how a user accepts the loss.
//
// Which slots are lost is decided by internal/stores/redis/ring.
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
	// maxText is how long slots are as text before one range that spans them all replaces them: a command that is cut off is
	// of no use.
	maxText = 400
	// digestLength is how many characters of a hash of the slots follow the token of such a command.
	digestLength = 8
	// maxQuoted is how much of the user's annotation a message repeats.
	maxQuoted = 100
)

// Approval is what the user says about lost slots.
type Approval struct {
	// Slots are those whose data the user gives up.
	Slots redis.Slots
	// Problem is why the annotation has no effect; "" if it has, or there is none.
	Problem string
}

// Approve reads the approval of the loss that the status reports. A loss that the status does not report yet cannot be approved.
func Approve(c *redisv1alpha1.RedisEnterpriseCluster, lost func() redis.Slots) Approval {
	reported := Reported(c)
	if reported == nil {
		return Approval{}
	}
	return approvalOf(c, lost(), reported.LastTransitionTime.Time)
}

// approvalOf reads the annotation, for a loss of slots that was reported at a time.
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
		return Approval{Problem: fmt.Sprintf("; the annotation that is there, %s, cannot be read", quoted)}
	case token != wanted:
		return Approval{Problem: fmt.Sprintf("; the annotation that is there, %s, is of another loss", quoted)}
	}
	return Approval{Slots: slots}
}

// Reported is the condition that reports lost slots, as it was last written; nil if there is none.
func Reported(c *redisv1alpha1.RedisEnterpriseCluster) *metav1.Condition {
	found := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionDataAtRisk)
	if found == nil || found.Status != metav1.ConditionTrue || found.Reason != redisv1alpha1.ReasonDataMissing {
		return nil
	}
	return found
}

// tokenOf names a loss by when it was first reported, in seconds.
func tokenOf(at time.Time) string { return strconv.FormatInt(at.Unix(), 36) }

// argument is what the command names: the lost slots, and the token. Too many ranges are replaced by one that spans them all;
// its token then has a hash of exactly the lost slots, as others of the range may be lost later.
func argument(lost redis.Slots, at time.Time) (slots, token string) {
	slots, token = lost.String(), tokenOf(at)
	if len(slots) <= maxText {
		return slots, token
	}
	span := redis.SlotRange{First: lost[0].First, Last: lost[len(lost)-1].Last}
	return span.String(), token + "-" + desired.Hash(slots)[:digestLength]
}

// isUsed reports whether none of the slots that the user gave up is lost any more.
func (a Approval) isUsed(lost redis.Slots) bool {
	return len(a.Slots) > 0 && len(lost.Within(a.Slots)) == 0
}
