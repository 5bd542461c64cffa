// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests RedisEnterpriseCluster end to end: the real manager with its deployed ServiceAccount and
// roles, a real API server with the real controllers, simulated nodes, and Redis servers in memory. The calls that it
// makes are read from the server's audit log. Pure functions are tested beside their code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var (
	env operator.Suite
	// store simulates every Redis server of the tests.
	store = &redissim.World{SyncLooks: 2}
)

func TestMain(m *testing.M) { operator.Main(m, &env, redisenterprisecluster.KindWith(store.Dial)) }
