// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"slices"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// mostFormerHosts is how many shared host keys a manager knows beside the present one. Each is of clients that were
// started before one was lost.
const mostFormerHosts = 3

// restoreSeed gives the ring a seed for host keys where it has none, such as one of an earlier version.
func restoreSeed(_ *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.Ring.Seed != "" {
		return nil, false
	}
	out := *in.Ring
	out.Seed = in.Seed
	return &out, true
}

// restoreShared creates another shared host key where it alone was lost and clients of earlier versions exist.
func restoreShared(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.Ring.Shared != nil || !in.Pods.Sharing {
		return nil, false
	}
	return withShared(d, *in.Ring, in.Shared), true
}

// retireShared forgets the shared host key when no client of an earlier version is left. Those had the private key too,
// so a pair of opcrew's is replaced.
func retireShared(_ *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.Pods.Sharing || !in.Ring.Sharing() || in.phase() != opsv1.SSHInUse {
		return nil, false
	}
	out := *in.Ring
	out.Shared, out.FormerShared = nil, nil
	if in.Given.Pair == nil && in.Given.Problem == nil {
		out.Next = in.Fresh
	}
	return &out, true
}

// withShared sets the shared host's pair, and keeps the public keys of those before it.
func withShared(d *opsv1.Diva, r ring.Ring, host *keys.Pair) *ring.Ring {
	former := r.FormerShared
	if recorded := d.Status.SSH; recorded != nil {
		former = slices.Concat([]string{recorded.HostKey}, recorded.FormerHostKeys, former)
	}
	r.Shared, r.FormerShared = host, nil
	for _, key := range former {
		if key != "" && key != host.Public && !slices.Contains(r.FormerShared, key) && len(r.FormerShared) < mostFormerHosts {
			r.FormerShared = append(r.FormerShared, key)
		}
	}
	return &r
}
