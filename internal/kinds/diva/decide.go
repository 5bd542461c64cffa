// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

// decision is what plan and report both rest on.
type decision struct {
	// ring is what the Secret is to hold; nil: nothing yet, and so there are no pods.
	ring *ring
	// key says what is wrong with the private key that is given; nil: nothing.
	key *obstacle
	// clients and manager tell why pods stay as they are, whatever the spec says.
	clients, manager *obstacle
	// replicas of the clients, and how large the claims of new ones are.
	replicas  int32
	claimSize resource.Quantity
}

// decide is pure.
func decide(d *opsv1.Diva, f facts) decision {
	out := decision{replicas: f.replicas(d), claimSize: f.templateSize(d)}
	out.ring, out.key = decideRing(d, f, f.now)
	out.clients = invalid("spec.client.image", d.Spec.Client.Image)
	if has, ok := templateOf(f.clients.Set); ok && out.clients != nil {
		out.claimSize = has // pods of an image that is none could not be recreated
	}
	if out.manager = invalid("spec.manager.image", d.Spec.Manager.Image); out.manager == nil {
		out.manager = invalid("spec.extra.image", d.Spec.Extra.Image)
	}
	return out
}

func invalid(field string, image opsv1.Image) *obstacle {
	if why := workload.InvalidImage(string(image)); why != "" {
		return &obstacle{common.ReasonInvalidImage, field + ": " + why}
	}
	return nil
}

// replicas is how many clients there are to be now: none is taken away that the manager
// still has in its inventory.
func (f facts) replicas(d *opsv1.Diva) int32 {
	wanted, has := d.Spec.Client.Replicas, f.clients.Replicas()
	if wanted < has && f.inventory != hosts(d) {
		return has
	}
	return wanted
}
