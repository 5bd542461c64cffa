// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
)

// planAt returns the plan for the given facts at the given time.
func planAt(object *redisv1alpha1.RedisEnterpriseCluster, f facts, now time.Time) kit.Plan {
	r := &reconciler{}
	return r.Plan(object, f, r.Decide(object, f, now))
}

// reportAt sets the status from the given facts and the outcome of a plan, at the given time.
func reportAt(object *redisv1alpha1.RedisEnterpriseCluster, f facts, done kit.Outcome, now time.Time) {
	r := &reconciler{}
	done.Now = now
	r.Report(object, f, r.Decide(object, f, now), done)
}
