// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/build"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// reportAvailable sets the condition Available: whether all slots are served and, if not, why.
func (in Ring) reportAvailable(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	const kind = redisv1alpha1.ConditionAvailable
	complete, reason, text := served(in.Servers, in.unserved(), in.refusing())
	if complete {
		if slots, by := ring.OwnerUnknown(in.View, in.Decision.Ring); len(slots) > 0 {
			set.False(kind, redisv1alpha1.ReasonSlotsUnserved, fmt.Sprintf("Slots %s are served, but %s does not know their owner yet and refuses clients that request keys in them%s",
				slots, by, in.Decision.Because()))
			return
		}
		set.True(kind, reason, text)
		return
	}
	if cause, message := in.whyUnavailable(c); cause != "" {
		set.False(kind, cause, message)
		return
	}
	set.False(kind, reason, text+in.Decision.Because())
}

// whyUnavailable returns a specific reason and message why slots are not served. Both are "" if no specific reason is
// known; the condition then reports only the counts of slots.
func (in Ring) whyUnavailable(c *redisv1alpha1.RedisEnterpriseCluster) (reason, message string) {
	fenced, waits := in.Decision.Refusal(ring.Fenced)
	barred := firstBarred(in.Servers)
	answering := in.Servers.Answering()
	switch {
	case barred != nil:
		return redisv1alpha1.ReasonUnreachable, wrongPassword(*barred, c)
	case waits && !ring.Majority(in.View, in.Decision.Ring):
		return redisv1alpha1.ReasonQuorumLost, fenced.Message
	case in.View.Err != nil:
		return redisv1alpha1.ReasonUnreachable, "The servers cannot be reached: " + in.View.Err.Error()
	case answering == 0 && in.AnyRuns:
		return redisv1alpha1.ReasonUnreachable, "No server answers" + firstSilent(in.Servers)
	case answering == 0:
		return redisv1alpha1.ReasonRecovering, "The pods are starting; no server answers yet"
	}
	return "", ""
}

// served reports whether each slot has a primary that serves it, and returns a text with the counts. unserved are the
// slots without a primary that answers, and refused the slots whose primaries refuse clients.
func served(all observed.Servers, unserved, refused observed.Ranges) (complete bool, reason, text string) {
	n, primaries := redisv1alpha1.Slots-unserved.Len()-refused.Len(), 0
	for _, s := range all {
		if s.Leads() && s.Down == "" {
			primaries++
		}
	}
	text = fmt.Sprintf("%d of %d slots are served by %d primaries", n, redisv1alpha1.Slots, primaries)
	if unserved.Len() > 0 {
		text += fmt.Sprintf("; slots %s have no primary that answers%s", unserved, silent(all))
	}
	if refused.Len() > 0 {
		text += fmt.Sprintf("; requests for slots %s are refused: %s", refused, firstDown(all))
	}
	if n < redisv1alpha1.Slots {
		return false, redisv1alpha1.ReasonSlotsUnserved, text
	}
	return true, redisv1alpha1.ReasonAllSlotsServed, text
}

// silent returns a clause that names the servers that do not answer; "" if all answer.
func silent(all observed.Servers) string {
	var names []string
	for _, s := range all {
		if !s.Answers {
			names = append(names, s.String())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; servers that do not answer: " + strings.Join(names, ", ")
}

// firstDown describes the first primary that considers the cluster down; "" if there is none.
func firstDown(all observed.Servers) string {
	for _, s := range all {
		if s.Leads() && s.Down != "" {
			return fmt.Sprintf("the %s considers the cluster down, %s", s, s.Down)
		}
	}
	return ""
}

// firstBarred returns the first server that refuses the operator's password; nil if none does.
func firstBarred(all observed.Servers) *observed.Server {
	if i := slices.IndexFunc(all, func(s observed.Server) bool { return redis.AccessDenied(s.Err) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// wrongPassword explains how to make a server accept the operator's password again. Each server's configuration file
// contains the password that the server started with.
func wrongPassword(s observed.Server, c *redisv1alpha1.RedisEnterpriseCluster) string {
	return fmt.Sprintf("The servers refuse the operator's password (%s: %v): Secret %s was changed. Restore the previous password in that Secret. To print the previous password: "+
		"kubectl exec -n %s %s -c %s -- grep auth %s/%s.conf", s, s.Err, desired.SystemSecret(c), c.Namespace, s.Pod, s.Place, build.RunMount, s.Place)
}
