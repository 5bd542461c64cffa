// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/access"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/tuning"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/volumes"
)

// decision holds what Decide derived from the facts.
type decision struct {
	decide.Decision
	// cluster is a copy of the object in which the volume settings are those that the pods were created with.
	// difference describes how the volume settings in the spec differ from these settings.
	cluster    *redisv1alpha1.RedisEnterpriseCluster
	difference string
	spec       desired.Spec
	// invalid explains why the spec is invalid; the pods then stay unchanged. badSecret explains why the users' Secret
	// is unusable. complaint is the message with which a server refused a setting.
	invalid              error
	badSecret, complaint string
	servers              observed.Servers
	// tuning holds the settings that all servers should have. untuned are the servers that do not have them yet.
	tuning  tuning.Tuning
	untuned observed.Servers
	// gone holds the names of the pods that no longer run.
	gone []string
	// remaining is how long old passwords stay valid.
	remaining time.Duration
}

// Decide makes the decision from f, the facts that Observe has read. The rules are in the packages desired, observed,
// tuning and decide.
func (r *reconciler) Decide(c *redisv1alpha1.RedisEnterpriseCluster, f facts, _ time.Time) decision {
	if c.DeletionTimestamp != nil {
		return decision{}
	}
	d := decision{
		cluster: volumes.AsCreated(c, f.Set), difference: volumes.Difference(c, f.Set),
		badSecret: f.credentials.Problem(c), remaining: access.Remaining(f.known.TunedSince, f.now),
	}
	d.spec, d.invalid = desired.Read(d.cluster, f.images)
	pods := observed.PodsOf(d.cluster, f.Members, f.storage.Inherited, f.now)
	pods.MayReturn = f.storage.MayReturn
	d.servers, d.gone, d.tuning = pods.Servers(f.view), pods.Gone(), tuning.For(d.cluster, f.credentials)
	if f.known.Complained == d.tuning.Generation {
		d.complaint = f.known.Complaint
	}
	if !desired.Hibernates(d.cluster) {
		d.untuned = d.tuning.Pending(d.servers, f.known.Tuned)
	}
	in := decide.Input{
		Cluster: d.cluster, Created: f.Set != nil, Pods: pods, Outdated: pods.Outdated(f.Members), Servers: d.servers,
		Ring: desired.Ring(d.cluster), View: f.view, Seen: f.seen, Untuned: len(d.untuned) > 0, Inherited: f.storage.Inherited,
	}
	in.Ring.LostElection = d.servers.LostElections(f.known.LostElections, f.now)
	in.Ring.New = f.now.Sub(f.known.Since) < in.Ring.Elections+desired.ElectionAttempt
	d.Decision = decide.Decide(in)
	return d
}

// waits returns why opcrew takes no further step now. The reconciler logs this reason.
func (d decision) waits() string {
	if d.Wait.Message == "" && len(d.Why.Refusals) > 0 {
		return d.Why.Refusals[0].Message
	}
	return d.Wait.Message
}

// problem returns what is wrong with the spec or with the users' Secret; "" if both are valid.
func (d decision) problem() string {
	if d.invalid != nil {
		return d.invalid.Error()
	}
	return d.badSecret
}
