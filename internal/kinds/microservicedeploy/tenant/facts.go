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

// reconciler is keyed by a Namespace. It manages what all instances of a tenant share: their quota and their
// credentials.
type reconciler struct {
	*kit.Tools
	around   *Neighbours
	troubles *Troubles
	checked  sync.Map // the last version of each tenant's credentials that was valid
}

// facts holds all that is read about a tenant.
type facts struct {
	quota.Tenant
	credentials credentials.Facts
	// behind is true if the API server has instances but the cache shows none, so that nothing may be deleted.
	behind bool
}

// decision has the time of the decision, as the lines of old passwords expire.
type decision struct{ now time.Time }

// Decide only records the time. It is pure.
func (r *reconciler) Decide(_ *corev1.Namespace, _ facts, now time.Time) decision {
	return decision{now}
}

// asksForCredentials reports whether there should be credentials. Existing ones stay as long as there is an instance,
// so that users still know them if an instance requires them again.
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
