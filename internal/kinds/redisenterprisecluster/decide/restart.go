// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// verdict is what a rule decides about the restart of a pod: restart, wait or undecided.
type verdict int

const (
	undecided verdict = iota
	restart
	wait
)

// rule checks one reason for or against restarting a pod.
type rule func(in Input, d Decision, pod *corev1.Pod) (verdict, Wait)

// rules returns the rules in order; the first rule that decides wins. Together they restart at most one pod at a time,
// and only a pod whose data is also on another pod.
func rules() []rule {
	return []rule{
		neverFormed,   // restarts a pod before the cluster has any data
		notSeen,       // waits until the servers have been read after the last step
		onlyCopy,      // waits if the pod has no volume and may have the only copy of some data
		leads,         // waits until the pod's primary has handed over to a replica
		isBroken,      // restarts a broken pod, because the changed spec may repair it
		ringNotDone,   // waits until no other change or repair of the cluster is needed
		othersUntuned, // waits until opcrew has sent all running servers their passwords and settings
	}
}

// wait returns why a pod is not restarted now. The zero Wait means that the pod is restarted.
func (in Input) wait(d Decision, pod *corev1.Pod) Wait {
	for _, look := range rules() {
		switch v, why := look(in, d, pod); v {
		case restart:
			return Wait{}
		case wait:
			return why
		}
	}
	return Wait{}
}

func neverFormed(in Input, _ Decision, pod *corev1.Pod) (verdict, Wait) {
	if !observed.Formed(in.Cluster) && observed.Broken(pod) && !slices.ContainsFunc(in.Servers, observed.Server.Leads) {
		return restart, Wait{}
	}
	return undecided, Wait{}
}

func notSeen(in Input, _ Decision, _ *corev1.Pod) (verdict, Wait) {
	if !in.Seen || in.View.Stale {
		return wait, Wait{Message: "opcrew is reading the servers first"}
	}
	return undecided, Wait{}
}

// onlyCopy waits while a pod without a volume has, or may have, the only copy of some data.
func onlyCopy(in Input, d Decision, pod *corev1.Pod) (verdict, Wait) {
	alone := desired.Nodes(in.Cluster) == 1 || observed.Broken(pod) && ring.Unserved(in.View, d.Ring).Len() > 0
	if desired.Persistent(in.Cluster) || !alone {
		return undecided, Wait{}
	}
	return wait, Wait{redisv1alpha1.ReasonNoPersistence, fmt.Sprintf(
		"pod %s is not restarted: it has no volume, and no other pod has its data; to restart it without the data, delete the pod", pod.Name)}
}

func leads(in Input, d Decision, pod *corev1.Pod) (verdict, Wait) {
	if desired.Nodes(in.Cluster) > 1 && in.Servers.LeadOn(pod.Name) {
		return wait, Wait{Message: pod.Name + " has yet to hand over its primary role" + d.Because()}
	}
	return undecided, Wait{}
}

func isBroken(in Input, _ Decision, pod *corev1.Pod) (verdict, Wait) {
	if observed.Broken(pod) && !in.Servers.MayLeadUnseenOn(pod) {
		return restart, Wait{}
	}
	return undecided, Wait{}
}

func ringNotDone(_ Input, d Decision, pod *corev1.Pod) (verdict, Wait) {
	if !d.Why.Done() {
		return wait, Wait{Message: pod.Name + " waits until the cluster is in its desired state" + d.Because()}
	}
	return undecided, Wait{}
}

func othersUntuned(in Input, _ Decision, _ *corev1.Pod) (verdict, Wait) {
	if in.Untuned {
		return wait, Wait{Message: "opcrew is sending the servers their settings first"}
	}
	return undecided, Wait{}
}
