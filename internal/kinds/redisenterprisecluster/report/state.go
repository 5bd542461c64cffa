// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
)

// Situation holds everything that the vendor's state field depends on.
type Situation struct {
	// Deleting is true while the object is being deleted, and Invalid if its spec is invalid. Refused is true if
	// children cannot be written. Hibernates is true if the spec requests no pods.
	Deleting, Invalid, Refused, Hibernates bool
	// Created is true if the StatefulSet exists. Answering is the number of servers that answer.
	Created   bool
	Answering int
	// Formed is true if all slots have been served at least once. Served is the number of slots that are served now.
	Formed bool
	Served int
	// RollsOut is true if any pod is outdated. Upgrades is true if outdated pods get another image.
	RollsOut, Upgrades bool
}

// SituationOf completes a Situation with what the servers show. Until the servers are read, it uses the previous
// status.
func (in Ring) SituationOf(c *redisv1alpha1.RedisEnterpriseCluster, s Situation) Situation {
	s.Refused = s.Refused || observed.HasReason(c, redisv1alpha1.ConditionChildrenReady, common.ReasonRefused, common.ReasonNameTaken)
	s.Formed = observed.Formed(c)
	if in.Seen {
		s.Served = redisv1alpha1.Slots - in.unserved().Len() - in.refusing().Len()
		s.Answering = in.Servers.Answering()
		return s
	}
	switch c.Status.State {
	case redisv1alpha1.StateInitializing:
		s.Answering = 1
	case redisv1alpha1.StateError:
		s.Served = 1
	}
	if meta.IsStatusConditionTrue(c.Status.Conditions, redisv1alpha1.ConditionAvailable) {
		s.Served = redisv1alpha1.Slots
	}
	return s
}

// State returns the value of the vendor's state field. A cluster with an invalid spec keeps running, but its state is
// Invalid.
func State(s Situation) redisv1alpha1.State {
	switch {
	case s.Deleting:
		return redisv1alpha1.StateDeleting
	case s.Invalid:
		return redisv1alpha1.StateInvalid
	case s.Refused:
		return redisv1alpha1.StateError
	case !s.Created:
		return redisv1alpha1.StatePendingCreation
	case s.Hibernates:
		return redisv1alpha1.StateHibernating
	case !s.Formed:
		return stateUnformed(s)
	}
	return stateFormed(s)
}

func stateUnformed(s Situation) redisv1alpha1.State {
	if s.Answering == 0 {
		return redisv1alpha1.StateBootstrappingFirstPod
	}
	return redisv1alpha1.StateInitializing
}

func stateFormed(s Situation) redisv1alpha1.State {
	switch {
	case s.Served == 0:
		return redisv1alpha1.StateRecoveringFirstPod
	case s.Served < redisv1alpha1.Slots:
		return redisv1alpha1.StateError
	case s.Upgrades:
		return redisv1alpha1.StateUpgrade
	case s.RollsOut:
		return redisv1alpha1.StateRunningRollingUpdate
	}
	return redisv1alpha1.StateRunning
}

// SpecStatus returns whether the spec is valid, in the vendor's terms.
func SpecStatus(invalid error) redisv1alpha1.SpecStatus {
	if invalid != nil {
		return redisv1alpha1.SpecInvalid
	}
	return redisv1alpha1.SpecValid
}
