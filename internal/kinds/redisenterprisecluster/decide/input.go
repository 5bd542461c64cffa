// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/loss"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Input holds what the decision depends on.
type Input struct {
	// Cluster has the volumes that it was created with.
	Cluster *redisv1alpha1.RedisEnterpriseCluster
	// Created is true if the StatefulSet exists.
	Created bool
	Pods    observed.Pods
	// Outdated are the pods that do not match the spec.
	Outdated []*corev1.Pod
	Servers  observed.Servers
	// Ring holds what the spec requires of the ring and what is known about elections, without its pods.
	Ring ring.Ring
	View redis.View
	// Seen is true if there is a view.
	Seen bool
	// Untuned is true if servers have not got their passwords or settings yet.
	Untuned bool
	// Inherited is how many pods an earlier cluster of the same name had; 0 once this one is formed.
	Inherited int32
}

// Decision holds what to do.
type Decision struct {
	Ring ring.Ring
	// Step is the next step at the ring, nil if there is none; Why has the reasons.
	Step ring.Step
	Why  ring.Why
	// Approval is what the user has decided about lost data.
	Approval loss.Approval
	// Replicas is how many pods there should be now.
	Replicas int32
	// Outdated are the pods that do not match the spec. Restart is the pod to restart now; nil if there is none, and
	// Wait is why.
	Outdated []*corev1.Pod
	Restart  *corev1.Pod
	Wait     Wait
}

// Wait explains why a pod is not restarted. A Wait with a reason needs the user.
type Wait struct{ Reason, Message string }

// Because returns what is being done or waited for at the ring, as a clause to append to a message.
func (d Decision) Because() string {
	switch {
	case d.Why.Doing != "":
		return ": " + d.Why.Doing
	case len(d.Why.Refusals) > 0:
		return ": " + d.Why.Refusals[0].Message
	}
	return ""
}

// Refusal returns the first refusal by one of the given guards, and whether there is one.
func (d Decision) Refusal(guards ...ring.Guard) (ring.Refusal, bool) {
	i := slices.IndexFunc(d.Why.Refusals, func(r ring.Refusal) bool { return slices.Contains(guards, r.Guard) })
	if i < 0 {
		return ring.Refusal{}, false
	}
	return d.Why.Refusals[i], true
}
