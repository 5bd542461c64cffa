// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests RedisEnterpriseCluster as a user meets it: the real manager, under the
// ServiceAccount and the roles that are deployed, on a real API server with the real controllers,
// simulated nodes, and servers of Redis in memory. What calls it makes is read from the server's audit
// log. Pure functions are tested beside their code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var (
	env operator.Suite
	// store is all the Redis there is.
	store = &redissim.World{SyncLooks: 2}
)

func TestMain(m *testing.M) { operator.Main(m, &env, redisenterprisecluster.KindWith(store.Dial)) }
