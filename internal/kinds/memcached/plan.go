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

// Plan declares the children. Deletion needs no plan: all of them are collected with
// their owner, and a cache has nothing to keep.
func (r *reconciler) Plan(m *cachev1alpha1.Memcached, f facts, now time.Time) kit.Plan {
	if m.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	plan := kit.Plan{Again: kit.Sooner(f.Refusal.Again, f.StuckIn(now))}
	for _, object := range []runtime.ApplyConfiguration{service(m), serverList(m), disruptionBudget(m)} {
		plan.Children = append(plan.Children, ensure.Child{Object: object})
	}
	plan.Children = append(plan.Children, workload.Pinned(statefulSet(m), wishes(m)))
	return plan
}

// wishes are what servers are restarted for when it changes.
func wishes(m *cachev1alpha1.Memcached) cachev1alpha1.MemcachedSpec {
	spec := m.Spec
	spec.Size = 0
	return spec
}
