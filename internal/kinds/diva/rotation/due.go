// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"time"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// Due reports whether the key pair should be replaced: the user provides another key pair or requests a change, or the
// key pair is too old. opcrew never replaces a key pair that the user provides.
func Due(d *opsv1.Diva, r *ring.Ring, g keys.Given, now time.Time) bool {
	switch request := d.Annotations[opsv1.RotateAnnotation]; {
	case g.Problem != nil:
		return false
	case g.Pair != nil:
		return g.Pair.Public != r.Current.Public
	case request != r.Request && request != "":
		return true
	}
	age := maxAge(d)
	return age > 0 && !now.Before(r.Made.Add(age))
}

// DueIn returns the time until the key pair reaches its maximum age; 0 if it has none.
func DueIn(d *opsv1.Diva, r *ring.Ring, g keys.Given, now time.Time) time.Duration {
	age := maxAge(d)
	if age == 0 || g.Pair != nil || g.Problem != nil || r.Phase() != opsv1.SSHInUse {
		return 0
	}
	return max(time.Second, r.Made.Add(age).Sub(now))
}

// maxAge returns the maximum age of the key pair; 0 means no limit.
func maxAge(d *opsv1.Diva) time.Duration {
	if d.Spec.SSH == nil {
		return 0
	}
	return d.Spec.SSH.RotateAfter.Duration()
}

// Changing reports whether the keys are being changed, or were being changed according to the status.
func Changing(d *opsv1.Diva, r *ring.Ring) bool {
	return r.Phase() != opsv1.SSHInUse || d.Status.SSH != nil && d.Status.SSH.Phase != opsv1.SSHInUse && d.Status.SSH.Phase != ""
}

// Retiring reports whether client pods may still accept the previous key although the Secret no longer contains it.
func (p Pods) Retiring(d *opsv1.Diva, r *ring.Ring) bool {
	s := d.Status.SSH
	return s != nil && (s.Phase == opsv1.SSHSwitching || s.Phase == opsv1.SSHRetiring) &&
		r.Phase() == opsv1.SSHInUse && p.clientsBehind(d, r) > 0
}
