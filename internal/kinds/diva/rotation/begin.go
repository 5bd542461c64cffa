// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// waitForUsableKey prevents the creation of keys while the key that the user provides is invalid, unless pods still log
// in with an earlier key.
func waitForUsableKey(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	return nil, in.Ring == nil && in.Given.Problem != nil && !podsUseKey(d, in)
}

// begin creates a key ring if the Secret has none. Pods may still run with an old key that only the status records. In
// that case client pods accept both keys, and running manager pods keep logging in with the old key.
func begin(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.Ring != nil {
		return nil, false
	}
	r := &ring.Ring{Current: in.wanted(), Identity: true, Made: in.Now, Request: d.Annotations[opsv1.RotateAnnotation], Seed: in.Seed}
	if podsUseKey(d, in) && d.Status.SSH.PublicKey != r.Current.Public {
		r.Previous, r.Identity = d.Status.SSH.PublicKey, false
	}
	if in.Pods.Sharing {
		return withShared(d, *r, in.Shared), true
	}
	return r, true
}

// podsUseKey reports whether pods may still use the key that the status records: the status has a key, and the Diva has
// pods.
func podsUseKey(d *opsv1.Diva, in Input) bool {
	return d.Status.SSH != nil && d.Status.SSH.PublicKey != "" && len(in.Pods.Clients)+len(in.Pods.Managers) > 0
}
