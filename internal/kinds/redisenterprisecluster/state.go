// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"

// situation is all that the vendor's state depends on.
type situation struct {
	// deleting: the object is going away. invalid: its spec asks for what cannot be. refused: children
	// cannot be put in place. asleep: it hibernates.
	deleting, invalid, refused, asleep bool
	// made: there is a StatefulSet. answering is how many servers answer.
	made      bool
	answering int
	// formed: the slots were all served once. served is how many are now.
	formed bool
	served int
	// rolling: pods change one after another. upgrading: to another image.
	rolling, upgrading bool
}

// stateOf is the state in the vendor's words. One that is invalid and runs goes on running; the
// vendor has it Invalid all the same.
func stateOf(s situation) redisv1alpha1.State {
	switch {
	case s.deleting:
		return redisv1alpha1.StateDeleting
	case s.invalid:
		return redisv1alpha1.StateInvalid
	case s.refused:
		return redisv1alpha1.StateError
	case !s.made:
		return redisv1alpha1.StatePendingCreation
	case s.asleep:
		return redisv1alpha1.StateHibernating
	case !s.formed:
		return stateUnformed(s)
	}
	return stateFormed(s)
}

func stateUnformed(s situation) redisv1alpha1.State {
	if s.answering == 0 {
		return redisv1alpha1.StateBootstrappingFirstPod
	}
	return redisv1alpha1.StateInitializing
}

func stateFormed(s situation) redisv1alpha1.State {
	switch {
	case s.served == 0:
		return redisv1alpha1.StateRecoveringFirstPod
	case s.served < redisv1alpha1.Slots:
		return redisv1alpha1.StateError
	case s.upgrading:
		return redisv1alpha1.StateUpgrade
	case s.rolling:
		return redisv1alpha1.StateRunningRollingUpdate
	}
	return redisv1alpha1.StateRunning
}

func specStatus(invalid error) redisv1alpha1.SpecStatus {
	if invalid != nil {
		return redisv1alpha1.SpecInvalid
	}
	return redisv1alpha1.SpecValid
}
