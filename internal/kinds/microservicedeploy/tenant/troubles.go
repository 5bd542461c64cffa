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

// tenantChildren is the condition type under which problems with shared quotas and credentials are kept in memory.
const tenantChildren = "TenantChildrenReady"

// Troubles passes problems with shared quotas and credentials to the MicroServiceDeploys of the namespace, so that
// their status reports these problems. The problems are kept in memory only: after a restart, the first reconcile finds
// them again.
type Troubles struct {
	mu       sync.Mutex
	byTenant map[string][]metav1.Condition
	Wake     chan event.TypedGenericEvent[client.Object]
}

// NewTroubles returns a Troubles without any stored problem.
func NewTroubles() *Troubles {
	return &Troubles{byTenant: map[string][]metav1.Condition{}, Wake: make(chan event.TypedGenericEvent[client.Object], 1024)}
}

// CarriedOut records the results of a plan for the shared objects of a namespace. It does not count it as a problem if
// a user's Secret has the name of the shared credentials.
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

// unread records that the shared objects of a namespace could not be read.
func (t *Troubles) unread(namespace string, err error) {
	t.note(namespace, func(set condition.Set) { set.Unknown(tenantChildren, common.ReasonApplying, err.Error()) })
}

// note stores a report and enqueues the MicroServiceDeploys of the namespace if the problem changed. It does not block:
// if more than a thousand namespaces change at once, some MicroServiceDeploys report the problem only after their next
// reconcile.
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

// Trouble explains why shared quotas or credentials are not as desired, as the reason and message of a condition.
type Trouble struct{ Reason, Message string }

// trouble returns the first problem among conditions; zero if there is none.
func trouble(conditions []metav1.Condition) Trouble {
	for _, c := range conditions {
		if c.Status != metav1.ConditionTrue {
			return Trouble{c.Reason, c.Message}
		}
	}
	return Trouble{}
}

// Of returns the problem with the shared quotas or credentials of a namespace.
func (t *Troubles) Of(namespace string) Trouble {
	t.mu.Lock()
	defer t.mu.Unlock()
	return trouble(t.byTenant[namespace])
}

// Forget removes the stored problems of a namespace without MicroServiceDeploys.
func (t *Troubles) Forget(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byTenant, namespace)
}
