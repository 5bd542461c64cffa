// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"slices"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// mostFormerHosts is how many former host keys a manager knows in addition to the current one. They belong to clients
// that started before a host key was lost.
const mostFormerHosts = 3

// waitForUsableKey creates no ring while the user's key is invalid and no pod depends on another key.
func waitForUsableKey(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	return nil, in.Ring == nil && in.Given.Problem != nil && !podsUseKey(d, in)
}

// begin creates a ring. If pods run with a key that only the status records, they are first moved to the new key, as
// the manager still has the old private key.
func begin(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.Ring != nil {
		return nil, false
	}
	r := &ring.Ring{Current: in.wanted(), Identity: true, Made: in.Now, Request: d.Annotations[opsv1.RotateAnnotation]}
	if !podsUseKey(d, in) {
		r.Host = in.Host
		return r, true
	}
	if recorded := d.Status.SSH; recorded.PublicKey != r.Current.Public {
		r.Previous, r.Identity = recorded.PublicKey, false
	}
	return withHost(d, *r, in.Host), true
}

// podsUseKey reports whether pods run with a key that is recorded in the status.
func podsUseKey(d *opsv1.Diva, in Input) bool {
	return d.Status.SSH != nil && d.Status.SSH.PublicKey != "" && len(in.Pods.Clients)+len(in.Pods.Managers) > 0
}

// restoreHostKey creates a new host key if only the host key was lost.
func restoreHostKey(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.Ring.Host != nil {
		return nil, false
	}
	return withHost(d, *in.Ring, in.Host), true
}

// withHost sets the host's pair, and keeps the public keys of former host pairs.
func withHost(d *opsv1.Diva, r ring.Ring, host *keys.Pair) *ring.Ring {
	former := r.FormerHosts
	if recorded := d.Status.SSH; recorded != nil {
		former = slices.Concat([]string{recorded.HostKey}, recorded.FormerHostKeys, former)
	}
	r.Host, r.FormerHosts = host, nil
	for _, key := range former {
		if key != "" && key != host.Public && !slices.Contains(r.FormerHosts, key) && len(r.FormerHosts) < mostFormerHosts {
			r.FormerHosts = append(r.FormerHosts, key)
		}
	}
	return &r
}
