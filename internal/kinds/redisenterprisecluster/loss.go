// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

const (
	// longest is how long slots are as text before one range that spans them all is written in their place: a
	// command that is cut short is of no use to anybody.
	longest = 400
	// digestLength is how many characters of a hash of the slots stand behind the token of such a command.
	digestLength = 8
	// mostQuoted is how much is repeated of what the user wrote.
	mostQuoted = 100
)

// approval is what the user says of slots that are lost.
type approval struct {
	// slots are those whose data is given up.
	slots redis.Slots
	// problem is why what is said counts for nothing; "" where it counts, or nothing is said.
	problem string
}

// approved is what the user says of the loss that the status tells: none counts before it is written there.
func (f facts) approved(c *redisv1alpha1.RedisEnterpriseCluster, wanted ring.Ring) approval {
	told := lossTold(c)
	if told == nil {
		return approval{}
	}
	return approvalOf(c, ring.Missing(f.view, wanted).Slots, told.LastTransitionTime.Time)
}

// approvalOf reads the annotation, as what is said of slots that are lost and of which that was told at a time.
func approvalOf(c *redisv1alpha1.RedisEnterpriseCluster, lost redis.Slots, at time.Time) approval {
	said := c.Annotations[redisv1alpha1.AcceptDataLossAnnotation]
	if said == "" {
		return approval{}
	}
	text, token, _ := strings.Cut(said, "@")
	slots, err := redis.ParseSlots(text)
	_, asked := asks(lost, at)
	quoted := strconv.Quote(condition.Cut(said, mostQuoted))
	switch {
	case err != nil || token == "":
		return approval{problem: fmt.Sprintf("; the annotation that is there, %s, cannot be read", quoted)}
	case token != asked:
		return approval{problem: fmt.Sprintf("; the annotation that is there, %s, is of another loss", quoted)}
	}
	return approval{slots: slots}
}

// lossTold is the condition that reports lost slots, as it was last written; nil if there is none.
func lossTold(c *redisv1alpha1.RedisEnterpriseCluster) *metav1.Condition {
	told := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionDataAtRisk)
	if told == nil || told.Status != metav1.ConditionTrue || told.Reason != redisv1alpha1.ReasonDataMissing {
		return nil
	}
	return told
}

// tokenOf names a loss by when it was told, in seconds.
func tokenOf(at time.Time) string { return strconv.FormatInt(at.Unix(), 36) }

// asks is what the command names: the slots that are lost, and the token. Where these are too many ranges it names one
// that spans them; its token is of exactly those that are lost, as others within the range may be so later.
func asks(lost redis.Slots, at time.Time) (slots, token string) {
	slots, token = lost.String(), tokenOf(at)
	if len(slots) <= longest {
		return slots, token
	}
	span := redis.SlotRange{First: lost[0].First, Last: lost[len(lost)-1].Last}
	return span.String(), token + "-" + hashOf(slots)[:digestLength]
}

// isUsed reports whether none of the slots that were given up is lost any more.
func (a approval) isUsed(lost redis.Slots) bool {
	return len(a.slots) > 0 && len(lost.Within(a.slots)) == 0
}

// reportLoss says which slots are lost, and how to go on without what was in them. What has been told is told until
// someone serves the slots, also while one does not answer who may have them: the approval waits for that one. A
// loss that comes after one that was given up has another token.
func (d decision) reportLoss(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, loss ring.Loss) {
	const kind = redisv1alpha1.ConditionDataAtRisk
	at, told := set.Now, lossTold(c)
	isNew := told == nil || d.approval.isUsed(loss.Slots)
	if isNew {
		set.Remove(kind)
	} else {
		at = told.LastTransitionTime.Time
	}
	switch {
	case loss.Waits == "":
		set.True(kind, redisv1alpha1.ReasonDataMissing, d.lossText(c, loss.Slots, at))
	case !isNew:
		set.True(kind, told.Reason, told.Message)
	}
}

func (d decision) lossText(c *redisv1alpha1.RedisEnterpriseCluster, lost redis.Slots, at time.Time) string {
	said := approvalOf(c, lost, at)
	text, token := asks(lost, at)
	left := lost.Without(said.slots)
	if len(left) == 0 {
		return fmt.Sprintf("The data of slots %s is lost, and given up as the annotation says: they are to be served without it%s", text, d.because())
	}
	if len(said.slots) > 0 {
		said.problem = "; the annotation that is there gives up other slots, or some of them"
	}
	return fmt.Sprintf("The data of slots %s is lost: no server has a copy of it%s. If a volume that has it can be brought back, do that. "+
		"To go on without it: kubectl annotate --overwrite rec %s -n %s %s=%s@%s",
		text, said.problem, c.Name, c.Namespace, redisv1alpha1.AcceptDataLossAnnotation, text, token)
}
