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
	// secretInterval is the time between two reads of a user's Secret. opcrew does not watch users' Secrets.
	secretInterval = time.Hour
	// waitInterval is the time between two reads of a user's Secret while it is missing or invalid.
	waitInterval = 10 * time.Second
	// askInterval is the time between two checks of the files that pods serve, while the keys are being changed. A
	// kubelet takes up to a minute to update a Secret in a pod.
	askInterval = 5 * time.Second
	// longestWait is the maximum time until the next scheduled reconcile.
	longestWait = 24 * time.Hour
)

// Plan returns the objects and patches of a Diva.
func (r *reconciler) Plan(d *opsv1.Diva, f facts, decided decision) kit.Plan {
	if d.DeletionTimestamp != nil {
		return r.leave(d, f.clients.Set)
	}
	plan := kit.Plan{Patches: decided.storage.Patches, Again: decided.again}
	if decided.ring != nil {
		plan.Children = append(plan.Children, secrets(d, f, decided)...)
	}
	// The inventory comes first, because a client pod is removed only after the inventory no longer lists that pod.
	for _, object := range []runtime.ApplyConfiguration{
		build.Inventory(d), build.ClientService(d), names.Managers(d).Service(names.Ports(d)), build.SSHPolicy(d), names.Clients(d).DisruptionBudget(),
	} {
		plan.Children = append(plan.Children, ensure.Child{Object: object})
	}
	plan.Children = append(plan.Children, decided.storage.Children...)
	if decided.ring != nil {
		plan.Children = append(plan.Children, pods(d, f, decided)...)
	}
	if orphaning(d, f.clients, decided.claimSize) {
		plan.Finalizer = clientsFinalizer
	} else {
		plan.Release = clientsFinalizer
	}
	return plan
}

// secrets returns the Secret with the login keys and, once that exists, the Secret of the client pods. If the login
// keys cannot be written, the next reconcile generates other keys, and client pods must not accept keys that were never
// stored.
func secrets(d *opsv1.Diva, f facts, decided decision) []ensure.Child {
	out := []ensure.Child{keySecret(d, f, decided)}
	if f.secret != nil {
		out = append(out, serverSecret(d, f, decided))
	}
	return out
}

// keySecret returns the Secret with the login keys. It is applied only if the Secret has not changed since it was read,
// so that two operators that run at the same time cannot overwrite each other's keys.
func keySecret(d *opsv1.Diva, f facts, decided decision) ensure.Child {
	return decidedOn(ensure.Child{Object: decided.ring.Secret(d, keys.Extra(d), decided.pods.Known), Random: true}, f.secret)
}

// serverSecret returns the Secret that client pods mount. Like the Secret with the login keys, it is applied only if it
// has not changed since it was read. Otherwise an operator that read an older Secret could restore keys that were
// replaced since.
func serverSecret(d *opsv1.Diva, f facts, decided decision) ensure.Child {
	return decidedOn(ensure.Child{Object: decided.ring.ServerSecret(d, keys.Extra(d)), Random: true}, f.server)
}

func decidedOn(child ensure.Child, secret *corev1.Secret) ensure.Child {
	if child.New = secret == nil; !child.New {
		child.DecidedOn = secret.ResourceVersion
	}
	return child
}

// pods returns the StatefulSet of the client pods and the Deployment of the manager pods. If the decision names an
// obstacle for one of them, that workload keeps its current pod template.
func pods(d *opsv1.Diva, f facts, decided decision) []ensure.Child {
	set := workload.Pinned(build.StatefulSet(d, decided.replicas, decided.claimSize, f.agentImage), build.ClientSettings(d))
	// Claim templates are immutable. To change one, opcrew recreates the StatefulSet and keeps its pods running.
	set.ReplaceOn, set.Orphan = []string{"spec.volumeClaimTemplates"}, true
	shared := decided.storage.Shared
	manager := workload.Pinned(build.Deployment(d, shared, f.agentImage), build.ManagerSettings(d, shared))
	set.Security, manager.Security = build.Security(d.Spec.Client.Part), build.Security(d.Spec.Manager.Part)
	var out []ensure.Child
	for _, each := range []struct {
		child   ensure.Child
		held    *obstacle
		live    client.Object
		secrets bool // the plan declares the Secrets that the pods mount
	}{{set, decided.clients, nilable(f.clients.Set), f.secret != nil}, {manager, decided.manager, nilable(f.manager.Deployment), true}} {
		switch {
		case each.live == nil && !each.secrets:
			// The Secrets that these pods mount do not exist yet, so only the next plan declares the pods. Otherwise a
			// guard would refuse the pods for a minute: it assumes that a missing Secret belongs to another owner, and
			// checks whether the user of the Diva may read the Secret.
		case each.held == nil:
			out = append(out, each.child)
		case each.live != nil:
			out = append(out, workload.Held(each.child, each.live))
		}
	}
	return out
}

// nilable converts a pointer to an interface value, which is nil if the pointer is nil. A direct conversion of a nil
// pointer would not be nil.
func nilable[T any, O interface {
	*T
	client.Object
}](object O) client.Object {
	if object == nil {
		return nil
	}
	return object
}
