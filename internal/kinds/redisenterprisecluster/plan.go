// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// underWay passes at most until a cluster that is being changed, or is not well, is looked at again.
	// It is only a net: the prober wakes the loop.
	underWay = 5 * time.Second
	// secretSoon passes between two looks at a Secret of the user that lacks something, and
	// secretInterval between two at one that does not: it is not watched.
	secretSoon     = 15 * time.Second
	secretInterval = time.Hour
)

// Plan declares the children, and at most one step. Deletion needs no plan: all children are collected
// with their owner, but for the claims, which are the StatefulSet's and stay.
func (r *reconciler) Plan(c *redisv1alpha1.RedisEnterpriseCluster, f facts, _ time.Time) kit.Plan {
	if c.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	c = f.asMade(c)
	d := f.decide(c)
	// More room on disk may be what servers wait for to start again, and what a quota refuses must not keep them from
	// being healed.
	plan := kit.Plan{Children: f.children(c, d), Aside: f.storage.Growth(), Again: f.again(c, d)}
	if f.known.retriesIn(f.now) == 0 {
		r.choose(c, f, d, &plan)
	}
	return plan
}

// children are those that there are to be. While the spec cannot be, pods stay as they are.
func (f facts) children(c *redisv1alpha1.RedisEnterpriseCluster, d decision) []ensure.Child {
	out := f.secrets(c)
	objects := []runtime.ApplyConfiguration{nodeService(c), pageService(c), disruptionBudget(c)}
	if _, made := serviceAccount(c); made {
		objects = append(objects, account(c))
	}
	if d.invalid == nil {
		objects = append(objects, config(c))
	}
	for _, object := range objects {
		out = append(out, ensure.Child{Object: object})
	}
	set := workload.Pinned(d.reading.statefulSet(c, d.replicas), d.reading.wishes(c))
	// Claim templates cannot be changed: a StatefulSet is recreated around its pods.
	set.ReplaceOn, set.Orphan = []string{"spec.volumeClaimTemplates"}, true
	switch {
	case d.invalid == nil:
		out = append(out, set)
	case f.Set != nil:
		out = append(out, workload.Held(set, f.Set))
	}
	return out
}

// choose takes the one step that goes before the others: without being let in no one is served, and
// a pod is restarted only where nothing else is left to do.
func (r *reconciler) choose(c *redisv1alpha1.RedisEnterpriseCluster, f facts, d decision, plan *kit.Plan) {
	take := func(ctx context.Context) error { return r.take(ctx, c, d, f.unrunning(c)) }
	switch {
	case d.step == ring.Step(redis.StopMove{}): // else it would go on for as long as the rest waits, or is held back
		plan.Step = &kit.Step{Name: d.step.String(), Ends: true, Do: take}
	case len(d.untuned) > 0 && !f.view.Stale:
		plan.Step = &kit.Step{Name: "tell servers their settings", Do: func(ctx context.Context) error { return r.tune(ctx, c, d.tuning, d.untuned, d.servers) }}
	case d.restart != nil && (limps(d.restart) || d.step == nil):
		pod := d.restart
		plan.Step = &kit.Step{Name: "restart pod " + pod.Name, Do: func(ctx context.Context) error { return r.restart(ctx, pod) }}
		plan.Events = []kit.Event{{Related: pod, Reason: "PodRestarted", Action: "Restart", Note: "Pod " + pod.Name + " is made anew: it does not run what the spec says"}}
	case d.step != nil:
		plan.Step = &kit.Step{Name: d.step.String(), Do: take}
		plan.Events = events(d, formed(c))
	}
}

// events tell users of steps that they should hear of. One that was formed, and whose servers are all new, has lost
// all that it had.
func events(d decision, formed bool) []kit.Event {
	switch d.step.(type) {
	case redis.AssignSlots:
		switch {
		case len(d.ring.Forsaken) > 0:
			return []kit.Event{{Warning: true, Reason: "DataLossAccepted", Action: "AssignSlots", Note: d.why.Doing + ", as annotation " + redisv1alpha1.AcceptDataLossAnnotation + " says"}}
		case formed:
			return []kit.Event{{Warning: true, Reason: "BegunAnew", Action: "Create", Note: "All servers are new, and none has any data: the cluster begins anew, without it"}}
		}
	case redis.Takeover:
		return []kit.Event{{Warning: true, Reason: "Takeover", Action: "TakeOver", Note: d.why.Doing}}
	case redis.ForceFailover:
		return []kit.Event{{Warning: true, Reason: "FailoverForced", Action: "FailOver", Note: d.why.Doing}}
	case redis.TakeLead:
		return []kit.Event{{Reason: "LeadMoved", Action: "FailOver", Note: d.why.Doing}}
	case redis.MoveSlots:
		return []kit.Event{{Reason: "SlotsMoving", Action: "MoveSlots", Note: d.why.Doing}}
	}
	return nil
}

// unrunning are the pods that were taken for gone, for a look at them as they are.
func (f facts) unrunning(c *redisv1alpha1.RedisEnterpriseCluster) []unrunning {
	var out []unrunning
	names := identity(c).Names(f.current(c))
	for i, pod := range f.byOrdinal(c) {
		if f.gone(c, pod) {
			out = append(out, unrunning{names[i], pod})
		}
	}
	return out
}

// unrunning is one of them, with no pod where there was none.
type unrunning struct {
	name string
	pod  *corev1.Pod
}

// again is when to look again by itself.
func (f facts) again(c *redisv1alpha1.RedisEnterpriseCluster, d decision) time.Duration {
	waits := []time.Duration{f.Refusal.Again, f.unbound.Again, f.known.retriesIn(f.now), f.storage.again(), f.dropAgain(c), f.StuckIn(f.now)}
	if !asleep(c) && (!d.why.Done() || len(d.untuned) > 0 || d.restart != nil || d.waits.words != "") {
		waits = append(waits, underWay)
	}
	switch {
	case f.credentials.problem(c) != "" || f.certificate != "":
		waits = append(waits, secretSoon)
	case f.credentials.theirs || pageSecret(c) != "":
		waits = append(waits, secretInterval)
	}
	var soonest time.Duration
	for _, wait := range waits {
		if wait > 0 && (soonest == 0 || wait < soonest) {
			soonest = wait
		}
	}
	return soonest
}
