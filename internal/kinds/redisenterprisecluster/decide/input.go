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

// Input holds everything that Decide depends on.
type Input struct {
	// Cluster is a copy of the object in which the volume settings are those that the pods were created with.
	Cluster *redisv1alpha1.RedisEnterpriseCluster
	// Created is true if the StatefulSet exists.
	Created bool
	Pods    observed.Pods
	// Outdated are the pods that do not match the spec.
	Outdated []*corev1.Pod
	Servers  observed.Servers
	// Ring holds the desired layout of the shards, and what is known about elections. Decide fills in the pods.
	Ring ring.Ring
	View redis.View
	// Seen is true once the prober has read the servers. View is valid only then.
	Seen bool
	// Untuned is true if some servers do not have their passwords or settings yet.
	Untuned bool
	// Inherited is how many pods an earlier cluster of the same name had, according to its volume claims. It is 0 once
	// this cluster is formed.
	Inherited int32
}

// Decision holds what Decide has decided.
type Decision struct {
	Ring ring.Ring
	// Step is the next step in the cluster; nil if there is none. Why has the reasons.
	Step ring.Step
	Why  ring.Why
	// Approval is the data loss that the user has accepted.
	Approval loss.Approval
	// Replicas is how many pods the StatefulSet should have now.
	Replicas int32
	// Outdated are the pods that do not match the spec. Restart is the pod to restart now. If Restart is nil, Wait
	// explains why.
	Outdated []*corev1.Pod
	Restart  *corev1.Pod
	Wait     Wait
}

// Wait explains why a pod is not restarted. Reason is set only if the user must act.
type Wait struct{ Reason, Message string }

// Because returns what opcrew is doing in the Redis cluster or is waiting for, as a clause to append to a message.
func (d Decision) Because() string {
	switch {
	case d.Why.Doing != "":
		return ": " + d.Why.Doing
	case len(d.Why.Refusals) > 0:
		return ": " + d.Why.Refusals[0].Message
	}
	return ""
}

// Refusal returns why the given guards (checks that can forbid a step) forbid a step: the first such reason, and
// whether there is one.
func (d Decision) Refusal(guards ...ring.Guard) (ring.Refusal, bool) {
	i := slices.IndexFunc(d.Why.Refusals, func(r ring.Refusal) bool { return slices.Contains(guards, r.Guard) })
	if i < 0 {
		return ring.Refusal{}, false
	}
	return d.Why.Refusals[i], true
}
