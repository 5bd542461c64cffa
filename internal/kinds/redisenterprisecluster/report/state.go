// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
)

// Situation holds all that the vendor's state depends on.
type Situation struct {
	// Deleting: the object is being deleted. Invalid: its spec is invalid. Refused: children cannot be written.
	// Hibernates: the spec requests no pods.
	Deleting, Invalid, Refused, Hibernates bool
	// Created is true if there is a StatefulSet. Answering is how many servers answer.
	Created   bool
	Answering int
	// Formed is true if all slots have been served once. Served is how many slots are served now.
	Formed bool
	Served int
	// RollsOut is true if pods are outdated; Upgrades, if they get another image.
	RollsOut, Upgrades bool
}

// SituationOf fills in what the servers show and the status reports. Until the servers are read, it relies on the last
// report.
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

// State returns the state in the vendor's words. A cluster with an invalid spec keeps running, but the vendor calls it
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

// SpecStatus returns whether the spec is valid, in the vendor's words.
func SpecStatus(invalid error) redisv1alpha1.SpecStatus {
	if invalid != nil {
		return redisv1alpha1.SpecInvalid
	}
	return redisv1alpha1.SpecValid
}
