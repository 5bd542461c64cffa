// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loss handles slots whose data is lost: it reports them in the status, and reads the annotation by which a
// user accepts the loss. Package internal/stores/redis/ring decides which slots are lost.
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
	// maxText is the maximum length of the list of slots in the command that accepts a data loss. A longer list is
	// replaced by one range that includes all slots of the list, because a truncated command would not work.
	maxText = 400
	// digestLength is the length of the hash of the lost slots. The command contains this hash if its list of slots was
	// replaced by one range, because the range alone does not show which of its slots are lost.
	digestLength = 8
	// maxQuoted is how many characters of the user's annotation a status message repeats.
	maxQuoted = 100
)

// Approval holds the lost slots whose data loss the user has accepted with an annotation.
type Approval struct {
	// Slots are the slots whose lost data the user accepts.
	Slots redis.Slots
	// Problem explains why the annotation has no effect; "" if it has an effect or does not exist.
	Problem string
}

// Approve reads the user's approval of the data loss that the status reports. Users can only approve a loss that the
// status already reports.
func Approve(c *redisv1alpha1.RedisEnterpriseCluster, lost func() redis.Slots) Approval {
	reported := Reported(c)
	if reported == nil {
		return Approval{}
	}
	return approvalOf(c, lost(), reported.LastTransitionTime.Time)
}

// approvalOf reads the annotation by which the user accepts the loss of slots. at is when the status first reported
// this loss.
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

// Reported returns the status condition that reports lost slots; nil if there is none.
func Reported(c *redisv1alpha1.RedisEnterpriseCluster) *metav1.Condition {
	found := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionDataAtRisk)
	if found == nil || found.Status != metav1.ConditionTrue || found.Reason != redisv1alpha1.ReasonDataMissing {
		return nil
	}
	return found
}

// tokenOf returns the token that identifies a loss: the time when the loss was first reported, as Unix time in base 36.
func tokenOf(at time.Time) string { return strconv.FormatInt(at.Unix(), 36) }

// argument returns the slots and the token for the command that accepts a loss. A long list of slots is replaced by one
// range. The token then includes a hash of the lost slots, so that the command does not accept a later loss of other
// slots in this range.
func argument(lost redis.Slots, at time.Time) (slots, token string) {
	slots, token = lost.String(), tokenOf(at)
	if len(slots) <= maxText {
		return slots, token
	}
	span := redis.SlotRange{First: lost[0].First, Last: lost[len(lost)-1].Last}
	return span.String(), token + "-" + desired.Hash(slots)[:digestLength]
}

// isUsed reports whether the approval is no longer needed: none of the slots whose loss the user accepted is lost any
// more.
func (a Approval) isUsed(lost redis.Slots) bool {
	return len(a.Slots) > 0 && len(lost.Within(a.Slots)) == 0
}
