// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// reportAvailability reports whether all slots are served and, where not, why no one else serves them.
func (f facts) reportAvailability(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision) {
	const kind = redisv1alpha1.ConditionAvailable
	reportAvailable(set, d.servers, f.unserved(d), f.refusing(d))
	told := meta.FindStatusCondition(*set.Conditions, kind)
	if told.Status == metav1.ConditionTrue {
		if slots, by := ring.Unheard(f.view, d.ring); len(slots) > 0 {
			set.False(kind, redisv1alpha1.ReasonSlotsUnserved, fmt.Sprintf("slots %s are served, but %s has yet to hear by whom, and refuses clients that ask it%s", slots, by, d.because()))
		}
		return
	}
	fenced, waits := d.refusal(ring.Fenced)
	bars := d.servers.barred()
	switch first, answering := d.servers.trouble(); {
	case bars != nil:
		set.False(kind, redisv1alpha1.ReasonUnreachable, bars.locked(c))
	case waits && !ring.Majority(f.view, d.ring):
		set.False(kind, redisv1alpha1.ReasonQuorumLost, fenced.Message)
	case f.view.Err != nil:
		set.False(kind, redisv1alpha1.ReasonUnreachable, "The servers cannot be asked: "+f.view.Err.Error())
	case answering == 0 && f.runs():
		set.False(kind, redisv1alpha1.ReasonUnreachable, "No server answers"+first)
	case answering == 0:
		set.False(kind, redisv1alpha1.ReasonRecovering, "The pods start, and no server answers yet")
	default:
		set.False(kind, told.Reason, told.Message+d.because())
	}
}

// runs reports whether the kubelet says that a server runs.
func (f facts) runs() bool {
	for _, pod := range f.Pods {
		if !limps(pod) {
			return true
		}
	}
	return false
}

// trouble is why the first server does not answer, and how many do.
func (all servers) trouble() (first string, answering int) {
	for _, s := range all {
		switch {
		case s.answers:
			answering++
		case first == "" && s.loading:
			first = fmt.Sprintf("; %s loads its data", s)
		case first == "" && s.err != nil:
			first = fmt.Sprintf("; %s: %v", s, s.err)
		}
	}
	return first, answering
}

// barred is the first server that does not let the operator in; nil if none.
func (all servers) barred() *server {
	if i := slices.IndexFunc(all, func(s server) bool { return redis.Barred(s.err) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// locked says how to have the operator let in again. What a server was started with stands in its configuration.
func (s server) locked(c *redisv1alpha1.RedisEnterpriseCluster) string {
	return fmt.Sprintf("The servers refuse the operator's password (%s: %v): Secret %s was changed. Put the one back that they know; it is told by: "+
		"kubectl exec -n %s %s -c %s -- grep auth %s/%s.conf", s, s.err, systemSecret(c), c.Namespace, s.pod, s.place, runMount, s.place)
}

// refusal is the first of a guard, if it has one.
func (d decision) refusal(guards ...ring.Guard) (ring.Refusal, bool) {
	i := slices.IndexFunc(d.why.Refusals, func(r ring.Refusal) bool { return slices.Contains(guards, r.Guard) })
	if i < 0 {
		return ring.Refusal{}, false
	}
	return d.why.Refusals[i], true
}

// reportRisk reports data that is missing, or would be by what is asked for. What a server that does not answer has
// is not missing. A look that shows nothing, or that a step has been taken since, changes nothing of what was told.
func (f facts) reportRisk(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision) {
	const kind = redisv1alpha1.ConditionDataAtRisk
	if f.view.Stale || f.view.Err != nil {
		return
	}
	loss := ring.Missing(f.view, d.ring)
	clash, contested := d.refusal(ring.Twins, ring.Strangers)
	switch {
	case contested:
		set.True(kind, redisv1alpha1.ReasonDataContested, clash.Message)
	case formed(c) && len(loss.Slots) > 0 && (loss.Waits == "" || lossTold(c) != nil):
		d.reportLoss(set, c, loss)
	case d.waits.reason != "":
		set.True(kind, d.waits.reason, d.waits.words)
	default:
		set.Remove(kind)
	}
}

// reportPods says what keeps the pods from being ready, and what is done about that at the ring.
func (f facts) reportPods(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision, done kit.Outcome) {
	const kind = redisv1alpha1.ConditionPodsReady
	names, before := identity(c).Names(nodes(c)), metav1.Condition{}
	if was := meta.FindStatusCondition(*set.Conditions, kind); was != nil {
		before = *was
	}
	f.Members.Report(set, kind, "pods", names, done)
	told := meta.FindStatusCondition(*set.Conditions, kind)
	switch {
	case told.Status == metav1.ConditionTrue:
		f.reportSpread(set, c, d, before)
		return
	case told.Reason == common.ReasonPodsMissing:
		return
	case f.unbound.Words != "":
		set.False(kind, common.ReasonPodsNotReady, fmt.Sprintf("%d of %d pods are ready; %s: %s", f.Ready(names), len(names), f.unbound.Pod, f.unbound.Words))
		return
	}
	if f.isOld() && before.Status == metav1.ConditionFalse && strings.HasPrefix(before.Message, told.Message) {
		set.False(kind, before.Reason, before.Message) // what was last said of the servers stands
		return
	}
	if memory, full := d.refusal(ring.Memory); full {
		set.False(kind, redisv1alpha1.ReasonTooLittleMemory, told.Message+": "+memory.Message+f.firstChange(c, d))
		return
	}
	reason := f.whyUnready(c, d, told.Reason)
	switch stuck := f.standstill(d); {
	case c.Status.Move == nil:
		set.False(kind, reason, told.Message+d.because()+f.refused())
	case stuck != "":
		set.False(kind, reason, told.Message+": "+stuck)
	default:
		set.False(kind, reason, told.Message+": slots are moved") // how far that is, and by whom, is told elsewhere
	}
}

// isOld reports whether the servers have yet to be looked at, or to be looked at again after a step.
func (f facts) isOld() bool { return !f.seen || f.view.Stale }

// firstChange says how to have pods changed, as to have more memory, that are not before slots have left others.
func (f facts) firstChange(c *redisv1alpha1.RedisEnterpriseCluster, d decision) string {
	if len(d.old) == 0 || f.current(c) <= nodes(c) {
		return ""
	}
	return fmt.Sprintf("; to have the pods changed first, put nodes back to %d until UpToDate is True", f.current(c))
}

// whyUnready is the reason why not all pods are ready where it is something that is done on purpose.
func (f facts) whyUnready(c *redisv1alpha1.RedisEnterpriseCluster, d decision, otherwise string) string {
	switch {
	case f.Set != nil && f.Replicas() > nodes(c):
		return redisv1alpha1.ReasonScalingDown
	case f.Set != nil && f.Replicas() < nodes(c):
		return redisv1alpha1.ReasonScalingUp
	case otherwise == common.ReasonUpdating && d.failsBack():
		return redisv1alpha1.ReasonFailingBack
	}
	return otherwise
}

// reportSpread reports pods that are ready, and have yet to be given their slots, or all of them. Before the servers
// were looked at, what was last said stands, and nothing is said to be well that was not.
func (f facts) reportSpread(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision, before metav1.Condition) {
	const words = "All pods are ready, and not all have their slots yet: "
	const kind = redisv1alpha1.ConditionPodsReady
	slots, _ := ring.ToMove(f.view, d.ring)
	switch {
	case f.isOld() && strings.HasPrefix(before.Message, words):
		set.False(kind, redisv1alpha1.ReasonScalingUp, before.Message)
	case f.seen && formed(c) && slots > 0 && f.unserved(d).Len() == 0:
		set.False(kind, redisv1alpha1.ReasonScalingUp, words+cmp.Or(f.standstill(d), "slots are moved"+f.moveFailed(d)))
	case !f.seen && formed(c) && before.Status == metav1.ConditionFalse:
		set.False(kind, before.Reason, "All pods are ready, and their servers have yet to be looked at")
	}
}

// refused is what servers said when the last step was not taken.
func (f facts) refused() string {
	if f.known.refused == "" {
		return ""
	}
	return "; last: " + f.known.refused
}

// failsBack reports whether a home is about to have its lead again. One that is about to be stopped gives it away by the
// same step: that is part of a change of the pods.
func (d decision) failsBack() bool {
	asked, is := d.step.(redis.TakeLead)
	return is && slices.ContainsFunc(d.servers, func(s server) bool {
		return s.address == asked.Address && s.place == redisv1alpha1.Home
	})
}

// lowest is the lowest version that any server runs, such as 7.0.15 or valkey 8.1.3; "" if none is known.
func (all servers) lowest() string {
	var low redis.Version
	for _, s := range all {
		if s.version.Number != "" && (low.Number == "" || compare(s.version.Number, low.Number) < 0) {
			low = s.version
		}
	}
	if low.Valkey {
		return "valkey " + low.Number
	}
	return low.Number
}

// compare compares versions by their numbers.
func compare(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return cmp.Compare(x, y)
	})
}
