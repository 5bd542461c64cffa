// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// secretInterval passes between two looks at a Secret of the user, which is not watched.
	secretInterval = time.Hour
	// waitInterval passes between two looks while a Secret of the user is missing or wrong.
	waitInterval = 10 * time.Second
	// askInterval passes between two looks at what pods serve while the pair is being
	// changed; a kubelet takes up to a minute to bring a Secret.
	askInterval = 5 * time.Second
	// longestWait keeps a far date from being waited for in one go.
	longestWait = 24 * time.Hour
)

// Plan declares the children.
func (r *reconciler) Plan(d *opsv1.Diva, f facts, _ time.Time) kit.Plan {
	if d.DeletionTimestamp != nil {
		return r.leave(d, f)
	}
	decided, plan := decide(d, f), kit.Plan{}
	if decided.ring != nil {
		plan.Children = append(plan.Children, secret(d, f, decided.ring))
	}
	// The inventory comes before the clients: see replicas.
	for _, object := range []runtime.ApplyConfiguration{
		inventory(d), headless(d), managers(d).Service(ports(d)), wall(d), clients(d).DisruptionBudget(),
	} {
		plan.Children = append(plan.Children, ensure.Child{Object: object})
	}
	plan.Children = append(plan.Children,
		f.claim(d, managers(d).Name, d.Spec.Manager.Storage),
		f.claim(d, extraClaim(d), d.Spec.Extra.Storage))
	if decided.ring != nil {
		plan.Children = append(plan.Children, pods(d, f, decided)...)
	}
	plan.Patches = slices.Concat(f.growth(d), f.owning(d), f.labelling(d))
	plan.Again = again(d, f, decided)
	f.guard(d, decided, &plan)
	return plan
}

// secret declares the keys. A step rests on the version that it was decided on: two
// operators that decide at once must not take each other's key away.
func secret(d *opsv1.Diva, f facts, r *ring) ensure.Child {
	child := ensure.Child{Object: r.secret(d, extra(d)), Random: true}
	if child.New = f.secret == nil; !child.New {
		child.DecidedOn = f.secret.ResourceVersion
	}
	return child
}

// pods declares what runs pods. Those that must not be changed stay as they are.
func pods(d *opsv1.Diva, f facts, decided decision) []ensure.Child {
	set := workload.Pinned(statefulSet(d, decided.replicas, decided.claimSize, f.helperImage), clientWishes(d))
	// Claim templates cannot be changed: a StatefulSet is recreated around its pods.
	set.ReplaceOn, set.Orphan = []string{"spec.volumeClaimTemplates"}, true
	manager := workload.Pinned(f.deployment(d), f.managerWishes(d))
	var out []ensure.Child
	for _, each := range []struct {
		child ensure.Child
		held  *obstacle
		live  client.Object
	}{{set, decided.clients, nilable(f.clients.Set)}, {manager, decided.manager, nilable(f.manager.Deployment)}} {
		switch {
		case each.held == nil:
			out = append(out, each.child)
		case each.live != nil:
			out = append(out, workload.Held(each.child, each.live))
		}
	}
	return out
}

// nilable is an object as an interface that is nil where there is none.
func nilable[T any, O interface {
	*T
	client.Object
}](object O) client.Object {
	if object == nil {
		return nil
	}
	return object
}

// clientWishes are what clients are restarted for when it changes.
func clientWishes(d *opsv1.Diva) any {
	part := d.Spec.Client.Part
	part.Storage = opsv1.Storage{}
	return []any{part, sshPort(d)}
}

// managerWishes are what the manager is restarted for when it changes.
func (f facts) managerWishes(d *opsv1.Diva) any {
	m, e := d.Spec.Manager, d.Spec.Extra
	m.Ports = slices.Clone(ports(d))
	for i := range m.Ports {
		m.Ports[i].AppProtocol, m.Ports[i].NodePort = "", nil
	}
	m.Storage, e.Storage = opsv1.Storage{}, opsv1.Storage{}
	m.Replicas, e.Replicas = nil, nil //nolint:staticcheck // it is users who shall not use it
	return []any{m, e, f.together(d), sshPort(d), sshUser(d)}
}

func again(d *opsv1.Diva, f facts, decided decision) time.Duration {
	wait := shortest(f.clients.Refusal.Again, f.unbound.Again)
	wait = shortest(wait, f.attachment.again)
	wait = shortest(wait, shortest(f.clients.StuckIn(f.now), f.manager.StuckIn(f.now)))
	wait = shortest(wait, remadeFor(d.Status.Storage, f.now))
	switch r := decided.ring; {
	case decided.key != nil && d.Spec.SSH != nil && d.Spec.SSH.SecretRef != nil:
		wait = shortest(wait, waitInterval)
	case d.Spec.SSH != nil && d.Spec.SSH.SecretRef != nil:
		wait = shortest(wait, secretInterval)
	case r != nil:
		wait = shortest(wait, min(longestWait, r.expires(d, f.given, f.now)))
	}
	if len(f.rigid) > 0 {
		wait = shortest(wait, workload.ClassInterval)
	}
	if decided.ring != nil && (decided.ring.phase() != opsv1.SSHInUse || f.retiring(d, decided.ring)) {
		wait = shortest(wait, askInterval)
	}
	return wait
}

// shortest is the shorter of two waits, of which 0 is none.
func shortest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
