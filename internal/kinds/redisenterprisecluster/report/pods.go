// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
	"github.com/opcrew/opcrew/internal/workload"
)

// Pods holds everything that the condition PodsReady depends on.
type Pods struct {
	Ring
	Members workload.Members
	// Unbound explains why a pod's volume claim has no volume.
	Unbound workload.UnboundCause
	// Refused explains why the servers refused the last step.
	Refused string
	// Unchanged is true if the number of ready pods is the same as in the last report.
	Unchanged bool
}

// Report sets the condition PodsReady: why pods are not ready, and what opcrew does about their servers.
func (in Pods) Report(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, done kit.Outcome) {
	const kind = redisv1alpha1.ConditionPodsReady
	names, before := desired.Identity(c).Names(desired.Nodes(c)), metav1.Condition{}
	if was := meta.FindStatusCondition(*set.Conditions, kind); was != nil {
		before = *was
	}
	in.Members.Report(set, kind, "pods", names, done)
	now := *meta.FindStatusCondition(*set.Conditions, kind)
	reason := in.reason(c, now.Reason)
	memory, full := in.Decision.Refusal(ring.Memory)
	switch {
	case now.Status == metav1.ConditionTrue:
		in.reportSlots(set, c, before)
	case now.Reason == common.ReasonPodsMissing:
	case in.Unbound.Words != "":
		set.False(kind, common.ReasonPodsNotReady, fmt.Sprintf("%d of %d pods are ready; %s: %s", in.Members.Ready(names), len(names), in.Unbound.Pod, in.Unbound.Words))
	case in.stands(before, set, reason):
		set.False(kind, before.Reason, before.Message)
	case full:
		set.False(kind, redisv1alpha1.ReasonTooLittleMemory, now.Message+": "+memory.Message+in.changeFirst(c))
	default:
		set.False(kind, reason, now.Message+in.atRing(c))
	}
}

// atRing returns what opcrew is doing in the Redis cluster, as a clause to append to a message. It omits the progress
// of a slot move, which has its own condition.
func (in Pods) atRing(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if c.Status.Move != nil {
		return ": " + cmp.Or(in.standstill(), "slots are being moved")
	}
	if in.Refused == "" {
		return in.Decision.Because()
	}
	return in.Decision.Because() + "; the last step failed: " + in.Refused
}

// stands reports whether the previous report stays until the servers are read. It stays if the spec, the number of
// ready pods and the reason are the same. Otherwise an operator that crashes repeatedly would change the report after
// each start.
func (in Pods) stands(before metav1.Condition, set condition.Set, reason string) bool {
	same := before.Reason == reason || before.Reason == redisv1alpha1.ReasonTooLittleMemory ||
		before.Reason == redisv1alpha1.ReasonFailingBack && reason == common.ReasonUpdating
	return same && in.IsOld() && in.Unchanged && isOfGeneration(before, set)
}

// isOfGeneration reports whether a previous condition is False and was reported for the current spec.
func isOfGeneration(before metav1.Condition, set condition.Set) bool {
	return before.Status == metav1.ConditionFalse && before.ObservedGeneration == set.Generation
}

// changeFirst returns advice for a scale-in during which the remaining pods would have too little memory. If some pods
// do not match the spec yet, for example because the spec now gives them more memory, they can be updated first.
func (in Pods) changeFirst(c *redisv1alpha1.RedisEnterpriseCluster) string {
	count := len(in.Decision.Ring.Pods)
	if len(in.Decision.Outdated) == 0 || count <= int(desired.Nodes(c)) {
		return ""
	}
	return fmt.Sprintf("; to update the pods first, set nodes back to %d until UpToDate is True", count)
}

// reason returns the reason for the condition PodsReady. If a planned change keeps pods from being ready, this change
// is the reason. If no such change is in progress, the function returns the reason that the caller passes.
func (in Pods) reason(c *redisv1alpha1.RedisEnterpriseCluster, otherwise string) string {
	switch n := in.Members.Replicas(); {
	case in.Members.Set != nil && n > desired.Nodes(c):
		return redisv1alpha1.ReasonScalingDown
	case in.Members.Set != nil && n < desired.Nodes(c):
		return redisv1alpha1.ReasonScalingUp
	case otherwise == common.ReasonUpdating && failsBack(in.Ring):
		return redisv1alpha1.ReasonFailingBack
	}
	return otherwise
}

// reportSlots reports pods that are ready but lack some of their slots, or whose servers have not joined the cluster.
// Until the servers are read, an earlier report of this problem stays, and PodsReady does not change from False to
// True.
func (in Pods) reportSlots(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, before metav1.Condition) {
	const kind = redisv1alpha1.ConditionPodsReady
	missing := ""
	if in.Seen && in.unserved().Len() == 0 {
		missing = in.unfinished(c)
	}
	switch {
	case in.IsOld() && in.Unchanged && before.Reason == redisv1alpha1.ReasonScalingUp && isOfGeneration(before, set):
		set.False(kind, before.Reason, before.Message)
	case !observed.Formed(c):
	case missing != "":
		set.False(kind, redisv1alpha1.ReasonScalingUp, "All pods are ready, but "+missing)
	case !in.Seen && before.Status == metav1.ConditionFalse:
		set.False(kind, before.Reason, "All pods are ready, but opcrew has not read the state of their servers yet")
	}
}

// unfinished returns what still has to be done with servers and slots to finish a scale-out; "" if nothing.
func (in Pods) unfinished(c *redisv1alpha1.RedisEnterpriseCluster) string {
	slots, known := ring.ToMove(in.View, in.Decision.Ring)
	switch {
	case slots > 0:
		return "not all of them have their slots yet: " + cmp.Or(in.standstill(), "slots are being moved"+in.moveFailed())
	case !known && in.View.Err == nil:
		return "not all of their servers have joined the cluster yet" + in.atRing(c)
	}
	return ""
}

// failsBack reports whether the next step makes a shard's own server (the home server of its pod) the primary again, in
// place of the guest server that took over. A rollout also uses TakeLead, but makes a guest server the primary.
func failsBack(in Ring) bool {
	asked, is := in.Decision.Step.(redis.TakeLead)
	return is && slices.ContainsFunc(in.Servers, func(s observed.Server) bool {
		return s.Address == asked.Address && s.Place == redisv1alpha1.Home
	})
}
