// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// Input is the input of the rules for the next step.
type Input struct {
	// Ring is what the Secret holds; nil if there is no Secret or no pair in it.
	Ring *ring.Ring
	// Given is the key that the user provides.
	Given keys.Given
	// Fresh is a new pair, and Host the host's pair to use where the ring has none.
	Fresh, Host *keys.Pair
	Pods        Pods
	Now         time.Time
}

// Pods are the pods that a kubelet runs.
type Pods struct{ Clients, Managers []Pod }

// Pod is a pod with the digest of the files that it serves; empty while that is unknown.
type Pod struct{ Name, Serves string }

// wanted is the pair that the user provides, or a fresh one.
func (in Input) wanted() *keys.Pair {
	if in.Given.Pair != nil {
		return in.Given.Pair
	}
	return in.Fresh
}

// phase is that of the ring.
func (in Input) phase() opsv1.SSHPhase { return in.Ring.Phase() }

// clientsBehind and managersBehind return how many pods do not serve yet what a ring says.
func (p Pods) clientsBehind(d *opsv1.Diva, r *ring.Ring) int {
	return behind(p.Clients, r.Digests(d)[ring.Client])
}

func (p Pods) managersBehind(d *opsv1.Diva, r *ring.Ring) int {
	return behind(p.Managers, r.Digests(d)[ring.Manager])
}

func behind(pods []Pod, digest string) int {
	n := 0
	for _, pod := range pods {
		if pod.Serves != digest {
			n++
		}
	}
	return n
}
