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

// reconciler reconciles Namespaces: the quotas and credentials that all MicroServiceDeploys of a namespace share.
type reconciler struct {
	*kit.Tools
	around   *Neighbours
	troubles *Troubles
	// checked maps a namespace to the resourceVersion at which the Secret with the shared credentials was last found to
	// have an htpasswd line that matches its password.
	checked sync.Map
}

// facts holds everything that is read about the MicroServiceDeploys of a namespace.
type facts struct {
	quota.Tenant
	credentials credentials.Facts
	// behind is true if the API server has MicroServiceDeploys but the cache shows none. Nothing may be deleted then.
	behind bool
}

// decision holds the time of the decision, which decides whether htpasswd lines of old passwords have expired.
type decision struct{ now time.Time }

// Decide only records the time. It has no side effects.
func (r *reconciler) Decide(_ *corev1.Namespace, _ facts, now time.Time) decision {
	return decision{now}
}

// asksForCredentials reports whether there should be shared credentials. Existing credentials stay as long as there is
// a MicroServiceDeploy, so that users can use the same password if a MicroServiceDeploy needs it again.
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
