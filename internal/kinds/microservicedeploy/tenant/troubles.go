// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// tenantChildren is the condition that records problems with a tenant's quota and credentials.
const tenantChildren = "TenantChildrenReady"

// Troubles passes problems with a tenant's quota and credentials on to its instances, as users look at these. It is
// kept in memory, as a new process finds out by its first attempt.
type Troubles struct {
	mu       sync.Mutex
	byTenant map[string][]metav1.Condition
	Wake     chan event.TypedGenericEvent[client.Object]
}

// NewTroubles returns an empty Troubles.
func NewTroubles() *Troubles {
	return &Troubles{byTenant: map[string][]metav1.Condition{}, Wake: make(chan event.TypedGenericEvent[client.Object], 1024)}
}

// CarriedOut records the results of a plan. It is not a problem if the Secret belongs to the tenant.
func (t *Troubles) CarriedOut(namespace string, done kit.Outcome) {
	done.Results = slices.DeleteFunc(slices.Clone(done.Results), func(r ensure.Result) bool {
		return r.Action == ensure.Taken && r.Ref.Name == names.TenantAuth
	})
	t.note(namespace, func(set condition.Set) {
		if len(done.Results) == 0 && done.Err == nil {
			set.Remove(tenantChildren)
			return
		}
		done.ReportChildren(set, tenantChildren)
	})
}

// unread records that a tenant could not be checked.
func (t *Troubles) unread(namespace string, err error) {
	t.note(namespace, func(set condition.Set) { set.Unknown(tenantChildren, common.ReasonApplying, err.Error()) })
}

// note enqueues the instances if the report changes. It does not block: if more than a thousand tenants change at once,
// the other instances see it in their next reconcile.
func (t *Troubles) note(namespace string, report func(condition.Set)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	conditions := slices.Clone(t.byTenant[namespace])
	before := trouble(conditions)
	report(condition.Set{Conditions: &conditions})
	t.byTenant[namespace] = conditions
	if len(conditions) == 0 {
		delete(t.byTenant, namespace)
	}
	if after := trouble(conditions); after == before {
		return
	}
	inside := &metav1.PartialObjectMetadata{}
	inside.Namespace = namespace
	select {
	case t.Wake <- event.TypedGenericEvent[client.Object]{Object: inside}:
	default:
	}
}

// Trouble explains why a tenant's quota or credentials are not as desired: the reason and message of a condition.
type Trouble struct{ Reason, Message string }

// trouble returns the problem with what a tenant's instances share; zero if there is none.
func trouble(conditions []metav1.Condition) Trouble {
	for _, c := range conditions {
		if c.Status != metav1.ConditionTrue {
			return Trouble{c.Reason, c.Message}
		}
	}
	return Trouble{}
}

// Of returns the problem with the quota or credentials of a namespace's tenant.
func (t *Troubles) Of(namespace string) Trouble {
	t.mu.Lock()
	defer t.mu.Unlock()
	return trouble(t.byTenant[namespace])
}

// Forget drops what is known about a namespace without instances.
func (t *Troubles) Forget(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byTenant, namespace)
}
