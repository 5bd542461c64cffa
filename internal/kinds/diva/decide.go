// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/build"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kinds/diva/rotation"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
	"github.com/opcrew/opcrew/internal/workload"
)

// decision holds everything that Plan and Report need in addition to the facts.
type decision struct {
	// ring is the key ring that the Secret with the SSH keys should hold. It is nil while there are no keys, and then
	// no pods are created.
	ring *ring.Ring
	// key explains what is wrong with the private key that the user provides; nil if nothing is wrong.
	key *keys.Problem
	// pods are the pods that must serve the SSH files of the key ring.
	pods    rotation.Pods
	storage storage.Decision
	// clients and manager explain why the client and manager pods do not follow the spec; nil if they follow it.
	clients, manager *obstacle
	// replicas is the number of client pods to run. claimSize is the size of the claims of new client pods.
	replicas  int32
	claimSize resource.Quantity
	// again is the time until the next reconcile; 0 means that no reconcile is scheduled.
	again time.Duration
}

// obstacle is the reason and message of a condition that explains why pods do not follow the spec.
type obstacle struct{ reason, message string }

// Decide decides what to do from the facts alone. It has no side effects.
func (r *reconciler) Decide(d *opsv1.Diva, f facts, now time.Time) decision {
	keyInput := rotationInput(d, f, now)
	out := decision{
		ring: rotation.Next(d, keyInput), key: f.given.Problem, pods: keyInput.Pods,
		storage: storage.Decide(storageInput(d, f, now)),
		clients: invalid("spec.client.image", d.Spec.Client.Image),
		manager: invalid("spec.manager.image", d.Spec.Manager.Image),
	}
	if out.manager == nil {
		out.manager = invalid("spec.extra.image", d.Spec.Extra.Image)
	}
	if held := foreignSecret(f); held != nil {
		out.clients, out.manager = held, held
	}
	out.replicas = replicas(d.Spec.Client.Replicas, f.clients.Replicas(), f.inventory == build.Hosts(d))
	out.claimSize = out.storage.TemplateSize
	if template := templateSize(f.clients.Set); template != nil && out.clients != nil {
		out.claimSize = *template // keep the size: recreating the StatefulSet is useless while the image is invalid
	}
	out.again = soonest(append(out.storage.Again,
		f.clients.Refusal.Again, f.unbound.Again, f.attachment.again, f.clients.StuckIn(now), f.manager.StuckIn(now),
		secretAgain(d, out.key), rotationAgain(d, keyInput, out.ring))...)
	return out
}

// foreignSecret returns an obstacle if a Secret of another owner has the name of one of opcrew's own Secrets. Pods
// mount Secrets by name, so they would mount the other owner's Secret.
func foreignSecret(f facts) *obstacle {
	if f.foreign == "" {
		return nil
	}
	return &obstacle{common.ReasonNameTaken, "Secret " + f.foreign + " belongs to another owner, and pods of this Diva would mount it; delete the Secret, or create the Diva under another name"}
}

func invalid(field string, image opsv1.Image) *obstacle {
	if why := workload.InvalidImage(string(image)); why != "" {
		return &obstacle{common.ReasonInvalidImage, field + ": " + why}
	}
	return nil
}

// replicas returns the number of client pods to run. It removes a client pod only after the manager pods' inventory no
// longer lists it.
func replicas(desired, existing int32, inventoryCurrent bool) int32 {
	if desired < existing && !inventoryCurrent {
		return existing
	}
	return desired
}

// secretAgain returns the time until opcrew reads the user's Secret again; 0 if the spec names no Secret.
func secretAgain(d *opsv1.Diva, problem *keys.Problem) time.Duration {
	switch {
	case d.Spec.SSH == nil || d.Spec.SSH.SecretRef == nil:
		return 0
	case problem != nil:
		return waitInterval
	}
	return secretInterval
}

// rotationAgain returns the time until the key pair reaches its maximum age, or until opcrew must check the pods again;
// 0 for never.
func rotationAgain(d *opsv1.Diva, in rotation.Input, next *ring.Ring) time.Duration {
	if next == nil {
		return 0
	}
	wait := time.Duration(0)
	if d.Spec.SSH == nil || d.Spec.SSH.SecretRef == nil {
		wait = min(longestWait, rotation.DueIn(d, next, in.Given, in.Now))
	}
	if next.Phase() != opsv1.SSHInUse || in.Pods.Retiring(d, next) {
		wait = soonest(wait, askInterval)
	}
	return wait
}

// soonest returns the shortest of the given waits. It ignores 0, which means never.
func soonest(waits ...time.Duration) time.Duration {
	waits = slices.DeleteFunc(waits, func(wait time.Duration) bool { return wait <= 0 })
	if len(waits) == 0 {
		return 0
	}
	return slices.Min(waits)
}
