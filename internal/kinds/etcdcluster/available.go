// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/etcd"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// reportAvailable tells whether a quorum is there, with the arithmetic.
func (f facts) reportAvailable(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) {
	const kind = etcdv1beta2.EtcdClusterAvailable
	healthy, voters := f.healthy(d)
	needs := voters/2 + 1
	c.Status.Quorum = fmt.Sprintf("%d of %d voters are healthy, %d are needed", healthy, voters, needs)
	switch {
	case asleep(c):
		c.Status.Quorum = ""
		set.False(kind, etcdv1beta2.ReasonHibernating, "spec.hibernate: no member runs")
	case c.Status.ClusterID == "" && d.invalid != nil:
		set.False(kind, d.invalid.reason, d.invalid.message)
	case c.Status.ClusterID == "":
		c.Status.Quorum = ""
		reason, message := f.beginning(d)
		set.False(kind, reason, message)
	case f.view.Err == nil && f.outOfSpace() != "":
		set.False(kind, etcdv1beta2.ReasonNoSpace, f.outOfSpace())
	case f.view.Err == nil && healthy >= needs:
		set.True(kind, etcdv1beta2.ReasonClusterAvailable, "Cluster available: "+c.Status.Quorum)
	case healthy < needs:
		set.False(kind, etcdv1beta2.ReasonQuorumLost, "Quorum is lost: "+c.Status.Quorum+f.firstCause(d)+hopeless(d, needs))
	case f.view.Err == nil:
		set.Unknown(kind, etcdv1beta2.ReasonUnreachable, "The members decide, and do not all answer: "+c.Status.Quorum+f.firstCause(d))
	default:
		set.Unknown(kind, etcdv1beta2.ReasonUnreachable, fmt.Sprintf("The members cannot be listed: %v", f.view.Err))
	}
}

// outOfSpace tells of a member whose data is as large as it may be: then nobody can write.
func (f facts) outOfSpace() string {
	for _, m := range f.view.Members {
		status := f.view.Status[m.ID]
		if slices.Contains(status.Alarms(), etcd.Alarm{Member: m.ID, Kind: etcd.AlarmNoSpace}) {
			return fmt.Sprintf("Writes are refused: %s is out of space (alarm NOSPACE); compact, defragment and disarm, or set ETCD_QUOTA_BACKEND_BYTES in spec.pod.etcdEnv", m.Name)
		}
	}
	return ""
}

// hopeless says what a quorum that cannot come back by itself needs.
func hopeless(d decision, needs int) string {
	alive := 0
	for _, m := range d.members {
		if m.voter() && m.lost == "" {
			alive++
		}
	}
	if alive >= needs {
		return ""
	}
	return fmt.Sprintf("; only %d can still come back, so nothing is written to it any more: restore a backup", alive)
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

// beginning tells how far the first members are, in words that change only where one of them
// may need a hand.
func (f facts) beginning(d decision) (reason, message string) {
	message = fmt.Sprintf("The first %d members are starting", len(d.members))
	for _, m := range d.members {
		if m.pod == nil {
			continue
		}
		if why, stuck := workload.WhyNotReady(m.pod); stuck {
			return etcdv1beta2.ReasonMemberNotReady, message + "; " + m.name + ": " + why
		}
	}
	if f.view.Err != nil && f.runFor(d) > straggle {
		return etcdv1beta2.ReasonMemberNotReady, fmt.Sprintf("The first %d members run, and do not answer: %v", len(d.members), f.view.Err)
	}
	return etcdv1beta2.ReasonCreating, message
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

// begun tells that those who are not ready have only just begun: they answer, and have not served
// clients yet.
func (f facts) begun(d decision) bool {
	return !slices.ContainsFunc(d.members, func(m member) bool {
		since := runsSince(m.pod)
		return !m.ready() && (!m.healthy || since.IsZero() || f.now.Sub(since) > straggle)
	})
}

// healthy counts the voters that are, and all of them. Those that are left of a quorum follow
// nobody, and are not to blame: then all that answer count.
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
