// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/rollout"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
)

// planner plans what was decided.
type planner struct {
	facts
	c *etcdv1beta2.EtcdCluster
	d decision
}

// mayBegin reports whether a member that has neither pod nor claim may be given them: before the
// cluster was formed, or when it was added and has never run.
func (p planner) mayBegin(m model.Member) bool {
	c, d := p.c, p.d
	if c.Status.ClusterID == "" {
		return d.invalid == nil
	}
	return !m.Started && m.Lost == ""
}

// wantsPod reports whether a member is to have a pod now. That of a lost one stays until the
// cluster has taken it out, and is not recreated.
func (p planner) wantsPod(m model.Member) bool {
	c, d := p.c, p.d
	switch {
	case d.drop[m.Name], model.Hibernating(c):
		return false
	case m.Pod != nil && m.Pod.DeletionTimestamp != nil: // it stays as it is, and holds up nothing
		return false
	case m.Pod != nil:
		return true
	case m.Serial < 0 || m.Lost != "":
		return false
	}
	return p.mayBegin(m) || m.Started && m.Claim != nil
}

// versionFor is the version that a member's new pod is of. One that is recreated in the
// middle of an upgrade has the newer one only if others run it already.
func (p planner) versionFor() string {
	c, d := p.c, p.d
	if c.Status.ClusterID == "" {
		return versions.Desired(c)
	}
	if d.target != "" || d.invalid != nil {
		if low := rollout.Lowest(d.members); low != "" {
			return low
		}
	}
	return versions.Desired(c)
}

// underWay is the longest time between two reconciles of a cluster that is being changed, or is not well. It is only a safety
// net: the prober starts reconciles.
const underWay = 5 * time.Second

// strayWait is the time between two reconciles while there is a pod or claim of no member. Its age, which is known in seconds,
// shows whether the view is newer.
const strayWait = time.Second
