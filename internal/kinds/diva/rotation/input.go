// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

// Input is the input of the rules.
type Input struct {
	// Ring is the content of the Secret; nil if there is no Secret, or no pair in it.
	Ring *ring.Ring
	// Given is the key that the user provides.
	Given keys.Given
	// Fresh is a new pair; Seed the one for host keys, and Shared the host's pair of clients of earlier versions, to use
	// where the ring has none.
	Fresh, Shared *keys.Pair
	Seed          string
	Pods          Pods
	Now           time.Time
}

// Pods are the pods that a kubelet runs.
type Pods struct {
	Clients, Managers []Pod
	// Known are the clients that managers are to know.
	Known []string
	// Sharing reports whether clients of earlier versions exist, or may be started: they share one host key, and mount
	// the Secret with the pair.
	Sharing bool
}

// Pod is a pod with the digest of the files that it serves; empty while that is unknown.
type Pod struct {
	Name, Serves string
	// Shared reports whether it is a client of an earlier version.
	Shared bool
}

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
	n := 0
	for _, pod := range p.Clients {
		if !serves(d, r, pod) {
			n++
		}
	}
	return n
}

func (p Pods) managersBehind(d *opsv1.Diva, r *ring.Ring) int {
	n, digest := 0, ManagerDigest(d, r, p.Known)
	for _, pod := range p.Managers {
		if pod.Serves != digest {
			n++
		}
	}
	return n
}

// serves reports whether a client serves what a ring says.
func serves(d *opsv1.Diva, r *ring.Ring, client Pod) bool {
	return client.Serves == ClientDigest(d, r, ring.Host{Name: client.Name, Shared: client.Shared})
}

// ClientDigest and ManagerDigest are those of the files that a pod is to serve.
func ClientDigest(d *opsv1.Diva, r *ring.Ring, host ring.Host) string {
	return sshkeys.Digest(r.ClientFiles(keys.Extra(d), host))
}

// ManagerDigest is that of managers, which know the given clients.
func ManagerDigest(d *opsv1.Diva, r *ring.Ring, known []string) string {
	return sshkeys.Digest(r.ManagerFiles(d, known))
}
