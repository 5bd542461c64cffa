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
	// readInterval is the time between two reads of other owners' pods while there is a quota.
	readInterval = time.Hour
	// waitInterval is the time between two reads while the cache lacks instances.
	waitInterval = 10 * time.Second
)

// Report does nothing, as opcrew does not write the status of namespaces.
func (r *reconciler) Report(*corev1.Namespace, facts, decision, kit.Outcome) {}

// Plan declares the quota and the credentials, as long as an instance requests them.
func (r *reconciler) Plan(ns *corev1.Namespace, f facts, d decision) kit.Plan {
	if ns.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	if f.behind {
		return kit.Plan{Again: waitInterval}
	}
	plan := kit.Plan{Prune: []client.ObjectList{&corev1.ResourceQuotaList{}, &corev1.SecretList{}}}
	plan.Stays = func(object client.Object) bool { // a copy of them belongs to a user
		return object.GetNamespace() != ns.Name || !quota.IsBound(object.GetName()) && object.GetName() != names.TenantAuth
	}
	for _, b := range quota.Bounds {
		if hard := f.Hard(b); len(hard) > 0 {
			plan.Children = append(plan.Children, ensure.Child{Object: b.Declare(ns.Name, hard)})
		}
	}
	if len(plan.Children) > 0 {
		plan.Again = readInterval // other owners may have come
	}
	if f.Others {
		plan.Again = othersInterval // other owners may have left, and nothing watches them
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
