// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// tenantChildren is what a tenant's quota and credentials are informed of as, to its instances.
const tenantChildren = "TenantChildrenReady"

// troubles carries what became of a tenant's quota and credentials to its instances, which
// are the objects that users look at. It lives in memory, since a new process finds out
// again by its first try.
type troubles struct {
	mu       sync.Mutex
	byTenant map[string][]metav1.Condition
	wake     chan event.TypedGenericEvent[client.Object]
}

func newTroubles() *troubles {
	return &troubles{byTenant: map[string][]metav1.Condition{}, wake: make(chan event.TypedGenericEvent[client.Object], 1024)}
}

// carriedOut records what became of a plan. A Secret that is the tenant's own is no trouble.
func (t *troubles) carriedOut(namespace string, done kit.Outcome) {
	done.Results = slices.DeleteFunc(slices.Clone(done.Results), func(r ensure.Result) bool {
		return r.Action == ensure.Taken && r.Ref.Name == tenantAuth
	})
	t.note(namespace, func(set condition.Set) {
		if len(done.Results) == 0 && done.Err == nil {
			set.Remove(tenantChildren)
			return
		}
		kit.ReportChildren(set, tenantChildren, done)
	})
}

// unread records that a tenant could not be looked at.
func (t *troubles) unread(namespace string, err error) {
	t.note(namespace, func(set condition.Set) { set.Unknown(tenantChildren, common.ReasonApplying, err.Error()) })
}

// note wakes the instances when something else is told than before. No one waits here: of
// more than a thousand tenants with news at once, the others see it at their next look.
func (t *troubles) note(namespace string, tell func(condition.Set)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	told := slices.Clone(t.byTenant[namespace])
	before := trouble(told)
	tell(condition.Set{Conditions: &told})
	t.byTenant[namespace] = told
	if len(told) == 0 {
		delete(t.byTenant, namespace)
	}
	if after := trouble(told); after == before {
		return
	}
	inside := &metav1.PartialObjectMetadata{}
	inside.Namespace = namespace
	select {
	case t.wake <- event.TypedGenericEvent[client.Object]{Object: inside}:
	default:
	}
}

// trouble is what is in the way of what a tenant's instances share; none where all went well.
func trouble(told []metav1.Condition) obstacle {
	for _, c := range told {
		if c.Status != metav1.ConditionTrue {
			return obstacle{reason: c.Reason, message: c.Message}
		}
	}
	return obstacle{}
}

func (t *troubles) of(namespace string) obstacle {
	t.mu.Lock()
	defer t.mu.Unlock()
	return trouble(t.byTenant[namespace])
}

func (t *troubles) forget(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byTenant, namespace)
}
