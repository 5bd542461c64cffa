// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/build"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// secretInterval is how often a user's Secret is read, as it is not watched.
	secretInterval = time.Hour
	// waitInterval is how often a user's Secret is read while it is missing or invalid.
	waitInterval = 10 * time.Second
	// askInterval is how often pods are checked for the files they serve while the pair is being changed. A kubelet
	// takes up to a minute to update a Secret.
	askInterval = 5 * time.Second
	// longestWait limits how far ahead a reconcile is scheduled.
	longestWait = 24 * time.Hour
)

// Plan returns the children of a Diva.
func (r *reconciler) Plan(d *opsv1.Diva, f facts, decided decision) kit.Plan {
	if d.DeletionTimestamp != nil {
		return r.leave(d, f.clients.Set)
	}
	plan := kit.Plan{Patches: decided.storage.Patches, Again: decided.again}
	if decided.ring != nil {
		plan.Children = append(plan.Children, secrets(d, f, decided)...)
	}
	// The inventory is applied before the clients: see replicas.
	for _, object := range []runtime.ApplyConfiguration{
		build.Inventory(d), build.ClientService(d), names.Managers(d).Service(names.Ports(d)), build.SSHPolicy(d), names.Clients(d).DisruptionBudget(),
	} {
		plan.Children = append(plan.Children, ensure.Child{Object: object})
	}
	plan.Children = append(plan.Children, decided.storage.Children...)
	if decided.ring != nil && f.secret != nil { // pods use both Secrets, and the second follows the first
		plan.Children = append(plan.Children, pods(d, f, decided)...)
	}
	if orphaning(d, f.clients, decided.claimSize) {
		plan.Finalizer = clientsFinalizer
	} else {
		plan.Release = clientsFinalizer
	}
	return plan
}

// secrets returns the Secret with the keys and, once that exists, the Secret of the clients. If the keys could not be
// written, the next reconcile generates others, and clients must not have been brought to accept the first.
func secrets(d *opsv1.Diva, f facts, decided decision) []ensure.Child {
	out := []ensure.Child{keySecret(d, f, decided)}
	if f.secret != nil {
		out = append(out, serverSecret(d, f, decided))
	}
	return out
}

// keySecret returns the Secret with the keys. It is only applied to the version that was read, so that two operators at
// the same time cannot overwrite each other's key.
func keySecret(d *opsv1.Diva, f facts, decided decision) ensure.Child {
	return decidedOn(ensure.Child{Object: decided.ring.Secret(d, keys.Extra(d), decided.pods.Known), Random: true}, f.secret)
}

// serverSecret declares what clients mount, likewise: no operator takes back what clients were brought to accept.
func serverSecret(d *opsv1.Diva, f facts, decided decision) ensure.Child {
	return decidedOn(ensure.Child{Object: decided.ring.ServerSecret(d, keys.Extra(d)), Random: true}, f.server)
}

func decidedOn(child ensure.Child, secret *corev1.Secret) ensure.Child {
	if child.New = secret == nil; !child.New {
		child.DecidedOn = secret.ResourceVersion
	}
	return child
}

// pods returns the workloads of a Diva. Pods that must not change keep their template.
func pods(d *opsv1.Diva, f facts, decided decision) []ensure.Child {
	set := workload.Pinned(build.StatefulSet(d, decided.replicas, decided.claimSize, f.agentImage), build.ClientSettings(d))
	// Claim templates are immutable, so a change recreates the StatefulSet around its pods.
	set.ReplaceOn, set.Orphan = []string{"spec.volumeClaimTemplates"}, true
	shared := decided.storage.Shared
	manager := workload.Pinned(build.Deployment(d, shared, f.agentImage), build.ManagerSettings(d, shared))
	set.Security, manager.Security = build.Security(d.Spec.Client.Part), build.Security(d.Spec.Manager.Part)
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

// nilable converts a pointer to an interface that is nil if the pointer is nil.
func nilable[T any, O interface {
	*T
	client.Object
}](object O) client.Object {
	if object == nil {
		return nil
	}
	return object
}
