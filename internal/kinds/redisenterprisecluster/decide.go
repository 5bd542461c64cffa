// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// decision is what follows from the facts. It is computed alike for the plan and for the report.
type decision struct {
	reading reading
	// invalid is why the spec cannot be; what runs goes on.
	invalid error
	servers servers
	ring    ring.Ring
	// step is what is next to be done to the ring, nil for nothing, and why tells the reasons.
	step ring.Step
	why  ring.Why
	// approval is what the user says of data that is lost.
	approval approval
	// untuned are the servers that have yet to be told the tuning.
	tuning  tuning
	untuned servers
	// replicas is how many pods there are to be now.
	replicas int32
	// old are the pods that do not run what the spec says. restart is the one of them to be restarted
	// now; waits says why none is.
	old     []*corev1.Pod
	restart *corev1.Pod
	waits   wait
}

// wait is why a pod is not restarted. One with a reason needs a hand.
type wait struct{ reason, words string }

func (f facts) decide(c *redisv1alpha1.RedisEnterpriseCluster) decision {
	d := decision{servers: f.servers(c), tuning: f.tuning(c), replicas: nodes(c), old: f.old(c)}
	d.reading, d.invalid = read(c, f.images)
	if asleep(c) {
		d.replicas, d.old = 0, nil
		return d
	}
	next := f.next(d.old)
	d.ring = f.ring(c, next)
	d.approval = f.approved(c, d.ring)
	d.ring.Forsaken = d.approval.slots
	d.ring.Elections, d.ring.Beaten = electionPause(c), d.servers.beaten(f.known.beaten, f.now)
	d.ring.New = f.now.Sub(f.known.since) < electionPause(c)+attempt
	d.untuned = d.servers.untuned(d.tuning, f.known.tuned)
	if f.seen && f.Set != nil {
		d.step, d.why = ring.Next(f.view, d.ring)
	}
	d.replicas = f.replicas(c, d.ring)
	if next != nil {
		if d.waits = f.holds(c, d, next); d.waits.words == "" {
			d.restart = next
		}
	}
	return d
}

// formed reports whether the slots were all served once: clients may have written since.
func formed(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	told := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionAvailable)
	switch {
	case told == nil || told.Reason == common.ReasonPending || told.Reason == redisv1alpha1.ReasonCreating:
		return false
	case told.Reason == redisv1alpha1.ReasonHibernating:
		return c.Status.Shards > 0
	}
	return true
}

// begins reports whether the servers have yet to become a cluster. Those that have lost data were one before, be it that
// of an earlier object of this name.
func (f facts) begins(c *redisv1alpha1.RedisEnterpriseCluster, d decision) bool {
	if formed(c) || f.seen && f.unserved(d).Len()+f.refusing(d).Len() == 0 {
		return false
	}
	_, refused := d.refusal(ring.Lost, ring.Unowned)
	loss := ring.Missing(f.view, d.ring)
	return !refused || loss.Waits != "" || len(loss.Slots) == 0
}

// unserved are the slots that no one who answers has.
func (f facts) unserved(d decision) redis.Slots { return ring.Unserved(f.view, d.ring) }

// refusing are the slots of servers that hold the cluster to be down. It is only told of them: they have their owners.
func (f facts) refusing(d decision) redis.Slots { return ring.Refused(f.view, d.ring) }

// replicas is how many pods there are to be. Those that leave stay until they have nothing that is
// needed; before there is a cluster they have nothing, but for what an earlier one left.
func (f facts) replicas(c *redisv1alpha1.RedisEnterpriseCluster, wanted ring.Ring) int32 {
	n := f.current(c)
	if n <= nodes(c) || !formed(c) && f.inherited == 0 && !slices.ContainsFunc(f.servers(c), server.leads) {
		return nodes(c)
	}
	for n > nodes(c) && ring.Left(f.view, wanted, int(n-1)) {
		n--
	}
	return n
}

// next is the old pod that is restarted before the others: one that does not run as it is, or else the last.
func (f facts) next(old []*corev1.Pod) *corev1.Pod {
	for _, pod := range old {
		if limps(pod) {
			return pod
		}
	}
	if len(old) == 0 {
		return nil
	}
	return old[len(old)-1]
}

// limps reports whether the kubelet says that one of the servers of a pod does not run. Such a pod is not
// waited for: what has been changed may be the cure.
func limps(pod *corev1.Pod) bool {
	running := 0
	for _, status := range pod.Status.ContainerStatuses {
		if (status.Name == homeContainer || status.Name == guestContainer) && status.State.Running != nil {
			running++
		}
	}
	return running < 2
}

// holds says why a pod must not be restarted now: at most one is at a time, and only what a
// replica elsewhere serves as well.
func (f facts) holds(c *redisv1alpha1.RedisEnterpriseCluster, d decision, pod *corev1.Pod) wait {
	switch {
	case !formed(c) && limps(pod) && !slices.ContainsFunc(d.servers, server.leads):
		return wait{}
	case f.isOld():
		return wait{words: "the servers are looked at first"}
	case f.hasOnlyCopy(c, d, pod):
		return wait{redisv1alpha1.ReasonNoPersistence, fmt.Sprintf("pod %s is not restarted: it has no volume, and its data is nowhere else; delete it to have it restarted without", pod.Name)}
	case nodes(c) > 1 && d.servers.leadsOn(pod.Name):
		return wait{words: pod.Name + " has yet to hand over" + d.because()}
	case limps(pod) && !d.servers.unknownOn(pod):
		return wait{}
	case !d.why.Done():
		return wait{words: pod.Name + " waits for the others" + d.because()}
	case len(d.untuned) > 0:
		return wait{words: "servers are told their settings first"}
	}
	return wait{}
}

// hasOnlyCopy reports whether the data of a pod without a volume is, or may be, nowhere else.
func (f facts) hasOnlyCopy(c *redisv1alpha1.RedisEnterpriseCluster, d decision, pod *corev1.Pod) bool {
	return !persistent(c) && (nodes(c) == 1 || limps(pod) && f.unserved(d).Len() > 0)
}

// because is what is done or waited for at the ring, to be added to a sentence.
func (d decision) because() string {
	switch {
	case d.why.Doing != "":
		return ": " + d.why.Doing
	case len(d.why.Refusals) > 0:
		return ": " + d.why.Refusals[0].Message
	}
	return ""
}

// leadsOn reports whether a server of a pod is the primary of slots.
func (all servers) leadsOn(pod string) bool {
	return slices.ContainsFunc(all, func(s server) bool { return s.pod == pod && s.leads() })
}

// unknownOn reports whether a server of a pod may be the primary of slots for all that is known: its
// container runs, and it does not answer.
func (all servers) unknownOn(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		i := slices.IndexFunc(all, func(s server) bool { return s.pod == pod.Name && string(s.place) == status.Name })
		return i >= 0 && status.State.Running != nil && !all[i].answers
	})
}
