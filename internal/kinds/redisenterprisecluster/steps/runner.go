// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/tuning"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Runner carries out steps.
type Runner struct {
	Prober *redis.Prober
	Memory *Memory
	Client client.Writer
	// Live reads from the API server, not the cache.
	Live  client.Reader
	Clock clock.PassiveClock
}

// Input holds what a step depends on.
type Input struct {
	Cluster  *redisv1alpha1.RedisEnterpriseCluster
	Decision decide.Decision
	Servers  observed.Servers
	// Tuning is what servers should be given; Pending are the servers that do not have it yet.
	Tuning  tuning.Tuning
	Pending observed.Servers
	// Gone has the names of the pods that the decision considers gone.
	Gone []string
	// Stale is true if the view is older than the last step.
	Stale bool
}
