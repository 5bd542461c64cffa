// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// Input is the input of the rules.
type Input struct {
	// Ring is the content of the Secret; nil if there is no Secret, or no pair in it.
	Ring *ring.Ring
	// Given is the key that the user provides.
	Given keys.Given
	// Fresh is a new pair. Host is a new host pair, which is used if the ring has none.
	Fresh, Host *keys.Pair
	Pods        Pods
	Now         time.Time
}

// Pods are the pods that a kubelet runs.
type Pods struct{ Clients, Managers []Pod }

// Pod is a pod with the digest of the files that it serves; Serves is empty if the digest is unknown.
type Pod struct{ Name, Serves string }

// wanted returns the pair that the user provides, or else the fresh pair.
func (in Input) wanted() *keys.Pair {
	if in.Given.Pair != nil {
		return in.Given.Pair
	}
	return in.Fresh
}

// phase returns the phase of the ring.
func (in Input) phase() opsv1.SSHPhase { return in.Ring.Phase() }

// clientsBehind and managersBehind return how many pods do not yet serve the files of a ring.
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
