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

// tenantChildren is the condition under which problems of a tenant's quota and credentials are recorded.
const tenantChildren = "TenantChildrenReady"

// Troubles carries what became of a tenant's quota and credentials to its instances, which
// are the objects that users look at. It lives in memory, since a new process finds out
// again by its first try.
type Troubles struct {
	mu       sync.Mutex
	byTenant map[string][]metav1.Condition
	Wake     chan event.TypedGenericEvent[client.Object]
}

// NewTroubles returns an empty Troubles.
func NewTroubles() *Troubles {
	return &Troubles{byTenant: map[string][]metav1.Condition{}, Wake: make(chan event.TypedGenericEvent[client.Object], 1024)}
}

// CarriedOut records what became of a plan. A Secret that is the tenant's own is no trouble.
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

// note enqueues the instances when what is reported changes. It does not wait: if more than a thousand tenants change at
// once, the instances of the others see it at their next reconcile.
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

// Trouble is why a tenant's quota or credentials are not as desired: the reason and message of a condition.
type Trouble struct{ Reason, Message string }

// trouble is what is in the way of what a tenant's instances share; none where all went well.
func trouble(conditions []metav1.Condition) Trouble {
	for _, c := range conditions {
		if c.Status != metav1.ConditionTrue {
			return Trouble{c.Reason, c.Message}
		}
	}
	return Trouble{}
}

// Of returns what troubles the tenant of a namespace.
func (t *Troubles) Of(namespace string) Trouble {
	t.mu.Lock()
	defer t.mu.Unlock()
	return trouble(t.byTenant[namespace])
}

// Forget drops what is known of a namespace without instances.
func (t *Troubles) Forget(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byTenant, namespace)
}
