// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// reportAvailable reports whether a quorum is there, with the arithmetic.
func (f facts) reportAvailable(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) {
	const kind = etcdv1beta2.EtcdClusterAvailable
	healthy, voters := f.healthy(d)
	needs := voters/2 + 1
	refuses, why := f.refusesWrites(c)
	c.Status.Quorum = fmt.Sprintf("%d of %d voters are healthy, %d are needed", healthy, voters, needs)
	switch {
	case asleep(c):
		c.Status.Quorum = ""
		set.False(kind, etcdv1beta2.ReasonHibernating, "spec.hibernate: no member runs")
	case c.Status.ClusterID == "":
		c.Status.Quorum = ""
		reason, message := f.beginning(c, d)
		set.False(kind, reason, message)
	case f.mistaken(d):
		c.Status.Quorum = ""
		set.False(kind, etcdv1beta2.ReasonClusterIDMismatch, f.mismatch(c))
	case f.isGoingOver(c, d):
		set.False(kind, etcdv1beta2.ReasonRestoring, f.goesOver(c))
	case refuses != "":
		set.False(kind, refuses, why)
	case f.view.Err == nil && healthy >= needs:
		set.True(kind, etcdv1beta2.ReasonClusterAvailable, "Cluster available: "+c.Status.Quorum)
	case f.view.Err == nil && !hopeless(d): // a quorum has just said who the members are
		set.True(kind, etcdv1beta2.ReasonClusterAvailable, "Cluster available: the members decide, and do not all answer: "+c.Status.Quorum)
	case hopeless(d):
		set.False(kind, etcdv1beta2.ReasonQuorumLost, "Quorum is lost: "+c.Status.Quorum+gone(d)+planOf(c))
	case healthy < needs && f.planned(c, d):
		set.False(kind, common.ReasonUpdating, "The members are starting again: "+c.Status.Quorum)
	case healthy < needs:
		set.False(kind, etcdv1beta2.ReasonQuorumLost, "Quorum is lost: "+c.Status.Quorum+f.firstCause(d)+planOf(c))
	default:
		set.Unknown(kind, etcdv1beta2.ReasonUnreachable, fmt.Sprintf("The members cannot be listed: %v", f.view.Err))
	}
}

// planned reports whether the quorum is away only because the members are woken, or changed where there
// are too few to spare one: then it comes back as soon as they have started.
func (f facts) planned(c *etcdv1beta2.EtcdCluster, d decision) bool {
	was := func(kind, reason string) bool {
		last := meta.FindStatusCondition(c.Status.Conditions, kind)
		return last != nil && last.Reason == reason
	}
	const available = etcdv1beta2.EtcdClusterAvailable
	changed := d.voters() <= 2 && was(etcdv1beta2.EtcdClusterUpToDate, common.ReasonUpdating)
	if !changed && !was(available, etcdv1beta2.ReasonHibernating) && !was(available, common.ReasonUpdating) {
		return false
	}
	return !slices.ContainsFunc(d.members, func(m member) bool { return !m.healthy && !f.isStarting(m) })
}

// isStarting reports whether a member is about to run, or has for so short that it need not answer yet.
func (f facts) isStarting(m member) bool {
	if m.lost != "" || m.pod == nil || m.pod.DeletionTimestamp != nil {
		return m.lost == ""
	}
	_, stuck := workload.WhyNotReady(m.pod)
	since := runsSince(m.pod)
	return !stuck && (since.IsZero() || f.now.Sub(since) < straggle)
}

// hopeless reports whether so many voters are lost that the quorum cannot come back by itself.
func hopeless(d decision) bool { return alive(d) < int(d.voters())/2+1 && d.anyLost() }

// alive counts the voters that are there or may come back.
func alive(d decision) int {
	n := 0
	for _, m := range d.members {
		if m.voter() && m.lost == "" {
			n++
		}
	}
	return n
}

// gone names all that are lost, and says what a cluster without them needs.
func gone(d decision) string {
	var out strings.Builder
	for _, m := range d.members {
		if m.lost != "" {
			out.WriteString("; " + m.name + ": " + m.lost)
		}
	}
	fmt.Fprintf(&out, "; only %d can still come back, so nothing is written to it any more", alive(d))
	return out.String()
}

// firstCause names the first member that is not ready, and why; those that are lost go first.
func (f facts) firstCause(d decision) string {
	first := ""
	for _, m := range d.members {
		switch {
		case m.lost != "":
			return "; " + m.name + ": " + m.lost
		case !m.ready() && first == "":
			first = "; " + m.name + cmp.Or(f.whyNot(m), ": it does not answer yet")
		}
	}
	return first
}

// beginning says how far the first members are, in words that change only where one of them
// may need a hand.
func (f facts) beginning(c *etcdv1beta2.EtcdCluster, d decision) (reason, message string) {
	if d.invalid != nil {
		return d.invalid.reason, d.invalid.message
	}
	message = fmt.Sprintf("The first %s starting", plural(len(d.members), "member is", "members are"))
	if len(d.drop) > 0 && f.startsOver(c) {
		return etcdv1beta2.ReasonCreating, message + " over: one lost its volume before they had formed the cluster"
	}
	for _, m := range d.members {
		if m.pod == nil {
			continue
		}
		if why, stuck := f.whyUnready(m); stuck {
			return etcdv1beta2.ReasonMemberNotReady, message + "; " + m.name + ": " + why
		}
	}
	if f.view.Err != nil && f.runFor(d) > straggle {
		return etcdv1beta2.ReasonMemberNotReady, fmt.Sprintf("The first %s not answer: %v", plural(len(d.members), "member runs, and does", "members run, and do"), f.view.Err)
	}
	return etcdv1beta2.ReasonCreating, message
}

// plural is a number of things: "member", or "3 members".
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// runFor is for how long etcd has been running in all pods.
func (f facts) runFor(d decision) time.Duration {
	var least time.Duration
	for _, m := range d.members {
		since := runsSince(m.pod)
		if since.IsZero() {
			return 0
		}
		if ran := f.now.Sub(since); least == 0 || ran < least {
			least = ran
		}
	}
	return least
}

// begun reports that those who are not ready have only just begun: they answer, and have not served
// clients yet.
func (f facts) begun(d decision) bool {
	return !slices.ContainsFunc(d.members, func(m member) bool {
		since := runsSince(m.pod)
		return !m.ready() && (!m.healthy || since.IsZero() || f.now.Sub(since) > straggle)
	})
}

// healthy counts the voters that are, and all of them. Those that are left of a quorum follow
// no one, and are not to blame: then all that answer count.
func (f facts) healthy(d decision) (healthy, voters int) {
	for _, m := range d.members {
		if !m.voter() {
			continue
		}
		voters++
		if m.healthy || m.answers && f.view.Err != nil {
			healthy++
		}
	}
	return healthy, voters
}
