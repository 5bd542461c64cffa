// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// decision holds what Decide derived from the facts.
type decision struct {
	// again is the time until opcrew checks again whether pods are stuck.
	again time.Duration
}

// Decide returns the time until the next check for stuck pods.
func (r *reconciler) Decide(_ *cachev1alpha1.Memcached, f facts, now time.Time) decision {
	return decision{again: f.StuckIn(now)}
}

// Plan declares the children. A Memcached that is being deleted needs no plan: a cache has no data to keep, and the
// garbage collector deletes the children with their owner.
func (r *reconciler) Plan(m *cachev1alpha1.Memcached, f facts, d decision) kit.Plan {
	if m.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	plan := kit.Plan{Again: d.again}
	plan.LookAgain(f.Refusal.Again)
	for _, object := range []runtime.ApplyConfiguration{networkPolicy(m), service(m), serverList(m), disruptionBudget(m)} {
		plan.Children = append(plan.Children, ensure.Child{Object: object})
	}
	plan.Children = append(plan.Children, workload.Pinned(statefulSet(m), settings(m)))
	return plan
}

// settings returns the part of the spec whose changes restart the servers.
func settings(m *cachev1alpha1.Memcached) cachev1alpha1.MemcachedSpec {
	spec := m.Spec
	spec.Size, spec.Access = 0, nil
	return spec
}
