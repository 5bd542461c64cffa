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

// verdict is what a rule decides about the restart of a pod.
type verdict int

const (
	undecided verdict = iota
	restart
	wait
)

// rule checks one reason for or against the restart of a pod.
type rule func(in Input, d Decision, pod *corev1.Pod) (verdict, Wait)

// rules returns the rules in order: the first that decides wins. At most one pod is restarted at a time, and only if a
// replica elsewhere has its data.
func rules() []rule {
	return []rule{
		neverFormed,   // there is no data yet
		notSeen,       // an old view does not justify a restart
		onlyCopy,      // a restart would lose the data
		leads,         // a primary hands over first
		isBroken,      // the change may be the remedy
		ringNotDone,   // one disruption at a time
		othersUntuned, // servers read the same settings when they start
	}
}

// wait returns why a pod is not restarted now; the zero Wait if it is.
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
		return wait, Wait{Message: "opcrew reads the servers first"}
	}
	return undecided, Wait{}
}

// onlyCopy waits while a pod without a volume has, or may have, the only copy of data.
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
		return wait, Wait{Message: "opcrew sends the servers their settings first"}
	}
	return undecided, Wait{}
}
