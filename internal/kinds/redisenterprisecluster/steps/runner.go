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

// Runner executes steps.
type Runner struct {
	Prober *redis.Prober
	Memory *Memory
	Client client.Writer
	// Live reads from the API server, not the cache.
	Live  client.Reader
	Clock clock.PassiveClock
}

// Input holds everything that a step depends on.
type Input struct {
	Cluster  *redisv1alpha1.RedisEnterpriseCluster
	Decision decide.Decision
	Servers  observed.Servers
	// Tuning holds the settings that all servers should have. Pending are the servers that do not have them yet.
	Tuning  tuning.Tuning
	Pending observed.Servers
	// Gone holds the names of the pods that, according to the cache, no longer run. Before a step that relies on this,
	// opcrew asks the API server again.
	Gone []string
	// Stale is true if the servers have not been read since the last step.
	Stale bool
}
