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

// Input holds everything on which the rules of this package base their decisions.
type Input struct {
	// Ring is the key ring in the Secret; nil if there is no Secret or it holds no key pair.
	Ring *ring.Ring
	// Given is the key pair that the user provides.
	Given keys.Given
	// Fresh, Shared and Seed are used where the key ring lacks them: a new login key pair, a host key pair for client
	// pods of earlier versions of opcrew, and random bytes for the host keys of client pods.
	Fresh, Shared *keys.Pair
	Seed          string
	Pods          Pods
	Now           time.Time
}

// Pods are the pods that are assigned to a node.
type Pods struct {
	Clients, Managers []Pod
	// Known lists the names of the client pods whose host keys the manager pods must know.
	Known []string
	// Sharing reports whether client pods that an earlier version of opcrew created exist or may still start. Such pods
	// share one host key and mount the Secret with the login key pair.
	Sharing bool
}

// Pod is a pod with the digest of the SSH files that it serves; "" if the digest is unknown.
type Pod struct {
	Name, Serves string
	// Shared reports whether the pod is a client pod of an earlier version of opcrew, which uses the shared host key.
	Shared bool
}

// wanted returns the key pair that the user provides, or else the fresh key pair.
func (in Input) wanted() *keys.Pair {
	if in.Given.Pair != nil {
		return in.Given.Pair
	}
	return in.Fresh
}

// phase returns the phase of the key change that the key ring records.
func (in Input) phase() opsv1.SSHPhase { return in.Ring.Phase() }

// clientsBehind returns the number of client pods that do not yet serve the files of a key ring.
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

// serves reports whether a client pod serves the files of a key ring.
func serves(d *opsv1.Diva, r *ring.Ring, client Pod) bool {
	return client.Serves == ClientDigest(d, r, ring.Host{Name: client.Name, Shared: client.Shared})
}

// ClientDigest returns the digest of the files that a client pod should serve.
func ClientDigest(d *opsv1.Diva, r *ring.Ring, host ring.Host) string {
	return sshkeys.Digest(r.ClientFiles(keys.Extra(d), host))
}

// ManagerDigest returns the digest of the files that a manager pod should serve, if it must know the given client pods.
func ManagerDigest(d *opsv1.Diva, r *ring.Ring, known []string) string {
	return sshkeys.Digest(r.ManagerFiles(d, known))
}
