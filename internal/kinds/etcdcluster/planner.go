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

// planner turns a decision into a plan.
type planner struct {
	facts
	c *etcdv1beta2.EtcdCluster
	d decision
}

// mayBegin reports whether a member that has neither pod nor claim may get them: the cluster is new and its first
// members have no quorum yet, or the member was added and has never run.
func (p planner) mayBegin(m model.Member) bool {
	c, d := p.c, p.d
	if c.Status.ClusterID == "" {
		return d.invalid == nil
	}
	return !m.Started && m.Lost == ""
}

// wantsPod reports whether a member should have a pod now. The pod of a lost member stays until etcd has removed the
// member, and is not recreated.
func (p planner) wantsPod(m model.Member) bool {
	c, d := p.c, p.d
	switch {
	case d.drop[m.Name], model.Hibernating(c):
		return false
	case m.Pod != nil && m.Pod.DeletionTimestamp != nil:
		// The pod is being deleted. Other changes must not wait until it is gone.
		return false
	case m.Pod != nil:
		return true
	case m.Serial < 0 || m.Lost != "":
		return false
	}
	return p.mayBegin(m) || m.Started && m.Claim != nil
}

// versionFor returns the etcd version for a new pod. During an upgrade, a recreated pod gets the new version only if
// all other members already run it.
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

// underWay is the longest time between two reconciles of a cluster that is changing or not healthy. It is only a safety
// net, as new views from the prober start reconciles.
const underWay = 5 * time.Second

// strayWait is the time between two reconciles while a pod or claim belongs to no member. After this time, a newer view
// shows whether a member was added for the object.
const strayWait = time.Second
