// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package decide decides what to do next for a Redis cluster: the next step in the cluster, the number of pods, and
// which outdated pod to restart. Its functions have no side effects. Package internal/stores/redis/ring has the rules
// for steps, and package steps executes steps.
package decide

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/loss"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Decide decides what to do next. A hibernating cluster has no pods, so nothing is decided for its servers.
func Decide(in Input) Decision {
	if desired.Hibernates(in.Cluster) {
		return Decision{}
	}
	d := Decision{Ring: in.Ring, Outdated: in.Outdated}
	next := nextOutdated(in.Outdated)
	d.Ring.Pods = in.Pods.Ring()
	if i := in.Pods.Index(next); i >= 0 {
		d.Ring.Pods[i].Yields = true
	}
	d.Approval = loss.Approve(in.Cluster, func() redis.Slots { return ring.Missing(in.View, d.Ring).Slots })
	d.Ring.GivenUp = d.Approval.Slots
	if in.Seen && in.Created {
		d.Step, d.Why = ring.Next(in.View, d.Ring)
	}
	d.Replicas = in.replicas(d.Ring)
	if next != nil {
		if d.Wait = in.wait(d, next); d.Wait == (Wait{}) {
			d.Restart = next
		}
	}
	return d
}

// replicas returns how many pods the StatefulSet should have. A scale-in removes a surplus pod only after the other
// pods have the pod's data. Before the cluster has formed, there is only data that an earlier cluster of this name left
// on volumes.
func (in Input) replicas(r ring.Ring) int32 {
	n, wanted := int32(len(in.Pods.Names)), desired.Nodes(in.Cluster)
	if n <= wanted || !observed.Formed(in.Cluster) && in.Inherited == 0 && !slices.ContainsFunc(in.Servers, observed.Server.Leads) {
		return wanted
	}
	for n > wanted && ring.Left(in.View, r, int(n-1)) {
		n--
	}
	return n
}

// nextOutdated returns the outdated pod to restart first: a pod whose servers do not run, or otherwise the last pod.
func nextOutdated(outdated []*corev1.Pod) *corev1.Pod {
	for _, pod := range outdated {
		if observed.Broken(pod) {
			return pod
		}
	}
	if len(outdated) == 0 {
		return nil
	}
	return outdated[len(outdated)-1]
}
