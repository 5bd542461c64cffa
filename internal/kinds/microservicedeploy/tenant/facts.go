// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/credentials"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kit"
)

// reconciler is keyed by a Namespace: it keeps what all instances of a tenant have
// in common, their quota and their credentials.
type reconciler struct {
	*kit.Tools
	around   *Neighbours
	troubles *Troubles
	checked  sync.Map // the version of each tenant's credentials that was found in order
}

// facts are all that is read about a tenant.
type facts struct {
	quota.Tenant
	credentials credentials.Facts
	// behind: the API server has instances where the cache shows none, so nothing may go.
	behind bool
}

// decision is when it was decided: lines of a password expire.
type decision struct{ now time.Time }

// Decide is pure.
func (r *reconciler) Decide(_ *corev1.Namespace, _ facts, now time.Time) decision {
	return decision{now}
}

// asksForCredentials reports whether there are to be some. Those that were made stay for as
// long as there is an instance: users know them when it asks for them again.
func (f facts) asksForCredentials() bool {
	if f.credentials.Live != nil && len(f.Instances) > 0 {
		return true
	}
	for _, m := range f.Instances {
		if m.Spec.NeedAuth && m.Spec.Auth == nil {
			return true
		}
	}
	return false
}
