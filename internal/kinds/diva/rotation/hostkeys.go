// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"slices"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// mostFormerHosts is the maximum number of earlier shared host keys that the manager pods know in addition to the
// current shared key. Client pods that were started before a host key was lost still use the lost key.
const mostFormerHosts = 3

// restoreSeed adds a seed (random bytes for host keys) if the key ring has none, for example because an earlier version
// of opcrew created the key ring.
func restoreSeed(_ *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.Ring.Seed != "" {
		return nil, false
	}
	out := *in.Ring
	out.Seed = in.Seed
	return &out, true
}

// restoreShared creates a new shared host key if only this key was lost from the Secret and client pods of earlier
// versions of opcrew exist.
func restoreShared(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.Ring.Shared != nil || !in.Pods.Sharing {
		return nil, false
	}
	return withShared(d, *in.Ring, in.Shared), true
}

// retireShared removes the shared host key when no client pod of an earlier version of opcrew is left. Such pods also
// had the private login key, so opcrew then replaces the login key pair, unless the user provides it.
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

// withShared sets the shared host key pair and keeps the public halves of earlier shared host keys.
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
