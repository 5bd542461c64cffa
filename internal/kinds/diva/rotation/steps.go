// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// replaceNextPair replaces the new key pair if the user provides another one before all client pods accept it.
func replaceNextPair(_ *opsv1.Diva, in Input) (*ring.Ring, bool) {
	g := in.Given.Pair
	if in.phase() != opsv1.SSHAuthorizing || in.Ring.Next == nil || g == nil || g.Public == in.Ring.Next.Public {
		return nil, false
	}
	out := *in.Ring
	if out.Next = g; g.Public == in.Ring.Current.Public {
		out.Next = nil
	}
	return &out, true
}

// waitForClients keeps the key ring unchanged until all client pods accept the new key.
func waitForClients(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	return in.Ring, in.phase() == opsv1.SSHAuthorizing && in.Pods.clientsBehind(d, in.Ring) > 0
}

// switchManager makes the manager pods log in with the new key, which all client pods now accept.
func switchManager(_ *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.phase() != opsv1.SSHAuthorizing {
		return nil, false
	}
	out := *in.Ring
	if out.Next != nil {
		out.Previous, out.Former = out.Current.Public, out.Current
		out.Current, out.Next, out.Made = out.Next, nil, in.Now
	}
	out.Identity = true
	return &out, true
}

// waitForManagers keeps the key ring unchanged until all manager pods log in with the new key.
func waitForManagers(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	return in.Ring, in.phase() == opsv1.SSHSwitching && in.Pods.managersBehind(d, in.Ring) > 0
}

// retirePrevious makes client pods reject the previous key, which no manager pod uses any more.
func retirePrevious(_ *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if in.phase() != opsv1.SSHSwitching {
		return nil, false
	}
	out := *in.Ring
	out.Previous, out.Former = "", nil
	return &out, true
}

// startRotation makes client pods accept a new key in addition to the current key.
func startRotation(d *opsv1.Diva, in Input) (*ring.Ring, bool) {
	if !Due(d, in.Ring, in.Given, in.Now) {
		return nil, false
	}
	out := *in.Ring
	out.Current = sameKey(in.Ring.Current, in.Given.Pair)
	out.Next, out.Request = in.wanted(), d.Annotations[opsv1.RotateAnnotation]
	return &out, true
}

// keepPair keeps the current key pair. If the user provides the same key in another format, keepPair stores the format
// of the user, because the user may need it.
func keepPair(_ *opsv1.Diva, in Input) (*ring.Ring, bool) {
	out := *in.Ring
	out.Current = sameKey(in.Ring.Current, in.Given.Pair)
	return &out, true
}

// sameKey returns the user's key pair if it is the current key, possibly in another format, or else the current key
// pair.
func sameKey(current, given *keys.Pair) *keys.Pair {
	if given != nil && given.Public == current.Public {
		return given
	}
	return current
}
