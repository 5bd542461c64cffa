// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"slices"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// mostFormerHosts is how many host keys of clients a manager knows beside the present one. Each is of clients that
// were started before a host key was lost.
const mostFormerHosts = 3

// waitForUsableKey creates nothing while the user provides a key that cannot be used and no pod depends on another.
func waitForUsableKey(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	return nil, in.Ring == nil && in.Given.Problem != nil && !podsUseKey(d, in)
}

// begin creates a ring. Pods that run with a key that only the status records are brought to the new one first: the
// manager still has the old private key.
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

// podsUseKey reports whether pods run with a key that the status records.
func podsUseKey(d *opsv1.Diva, in Input) bool {
	return d.Status.SSH != nil && d.Status.SSH.PublicKey != "" && len(in.Pods.Clients)+len(in.Pods.Managers) > 0
}

// restoreHostKey creates another host key where it alone was lost.
func restoreHostKey(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.Ring.Host != nil {
		return nil, false
	}
	return withHost(d, *in.Ring, in.Host), true
}

// withHost sets the host's pair, and keeps the public keys of those before it.
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
