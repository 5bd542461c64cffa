// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

const (
	// readInterval is the time between two checks for other owners' pods while there is a quota.
	readInterval = time.Hour
	// waitInterval is the time between two checks while the cache lacks MicroServiceDeploys that the API server has.
	waitInterval = 10 * time.Second
)

// Report does nothing, because opcrew does not write the status of namespaces.
func (r *reconciler) Report(*corev1.Namespace, facts, decision, kit.Outcome) {}

// Plan declares the quotas and the shared credentials, as long as a MicroServiceDeploy needs them.
func (r *reconciler) Plan(ns *corev1.Namespace, f facts, d decision) kit.Plan {
	if ns.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	if f.behind {
		return kit.Plan{Again: waitInterval}
	}
	plan := kit.Plan{Prune: []client.ObjectList{&corev1.ResourceQuotaList{}, &corev1.SecretList{}}}
	// Users may copy these objects, under other names or into other namespaces. opcrew does not delete the copies.
	plan.Stays = func(object client.Object) bool {
		return object.GetNamespace() != ns.Name || !quota.IsBound(object.GetName()) && object.GetName() != names.TenantAuth
	}
	for _, b := range quota.Bounds {
		if hard := f.Hard(b); len(hard) > 0 {
			plan.Children = append(plan.Children, ensure.Child{Object: b.Declare(ns.Name, hard)})
		}
	}
	if len(plan.Children) > 0 {
		plan.Again = readInterval // check whether other owners have started pods
	}
	if f.Others {
		plan.Again = othersInterval // check whether other owners have left, because opcrew does not watch their pods
	}
	if f.Leaving {
		plan.Again = departInterval
	}
	if f.asksForCredentials() {
		child, again := f.credentials.Child(ns, d.now)
		plan.Children = append(plan.Children, child)
		if again > 0 && !f.Leaving {
			plan.Again = again
		}
	}
	return plan
}
