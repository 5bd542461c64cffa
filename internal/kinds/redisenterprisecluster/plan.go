// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"slices"
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/build"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/steps"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// changeInterval is the longest time until opcrew reconciles a changing or unhealthy cluster again. It is only a
	// fallback: normally the prober triggers a reconcile when it notices a change.
	changeInterval = 5 * time.Second
	// badSecretInterval is the time between two reads of a user's Secret that is unusable. secretInterval is the same
	// for a usable Secret. opcrew reads such Secrets periodically because it may not be able to watch them.
	badSecretInterval = 15 * time.Second
	secretInterval    = time.Hour
)

// Plan declares the children and at most one step. A deleted cluster needs no plan: the garbage collector deletes the
// children. The volume claims stay, as they belong to the StatefulSet and not to the cluster.
func (r *reconciler) Plan(c *redisv1alpha1.RedisEnterpriseCluster, f facts, d decision) kit.Plan {
	if c.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	// Volumes grow last and independently of all other changes. A server with a full disk may need the space, and if a
	// quota refuses larger volumes, this must not block the other changes.
	plan := kit.Plan{
		Children:    append(f.credentials.Children(d.cluster, d.remaining), children(d, f)...),
		Independent: f.storage.Growth(), Waits: d.waits(),
		Again: soonest(f.Refusal.Again, f.unbound.Again, f.known.RetriesIn(f.now), f.storage.Recheck(changeInterval), f.StuckIn(f.now), d.recheck(),
			f.credentials.Recheck(d.cluster, d.remaining),
			recheckSecrets(d.badSecret != "" || f.certificate != "", f.credentials.External || desired.PageSecret(d.cluster) != "")),
	}
	if f.known.RetriesIn(f.now) == 0 {
		r.steps.Choose(steps.Input{
			Cluster: d.cluster, Decision: d.Decision, Servers: d.servers, Tuning: d.tuning, Pending: d.untuned, Gone: d.gone, Stale: f.view.Stale,
		}, &plan)
	}
	return plan
}

// children returns all children except the Secrets. While the spec is invalid, the StatefulSet keeps its template, so
// that the pods stay unchanged.
func children(d decision, f facts) []ensure.Child {
	out := build.Objects(d.cluster, f.operator, d.invalid == nil)
	set := workload.Pinned(build.StatefulSet(d.spec, d.cluster, d.Replicas), d.spec.PodInputs(d.cluster))
	// A StatefulSet's volume claim templates are immutable. To change them, opcrew recreates the StatefulSet, and the
	// new StatefulSet adopts the pods.
	set.ReplaceOn, set.Orphan = []string{"spec.volumeClaimTemplates"}, true
	switch {
	case d.invalid == nil:
		out = append(out, set)
	case f.Set != nil:
		out = append(out, workload.Held(set, f.Set))
	}
	return out
}

// recheck returns the time until the next reconcile while the cluster is changing; 0 if it is not.
func (d decision) recheck() time.Duration {
	if d.Why.Done() && len(d.untuned) == 0 && d.Restart == nil && d.Wait.Message == "" {
		return 0
	}
	return changeInterval
}

// recheckSecrets returns the time until the user's Secrets are read again; 0 if the operator owns all Secrets.
func recheckSecrets(problem, external bool) time.Duration {
	switch {
	case problem:
		return badSecretInterval
	case external:
		return secretInterval
	}
	return 0
}

// soonest returns the shortest of some times; 0 means never.
func soonest(waits ...time.Duration) time.Duration {
	waits = slices.DeleteFunc(waits, func(wait time.Duration) bool { return wait <= 0 })
	if len(waits) == 0 {
		return 0
	}
	return slices.Min(waits)
}
