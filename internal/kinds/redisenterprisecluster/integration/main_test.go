// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests RedisEnterpriseCluster end to end, with the real manager and its roles, a real API server
// with the real controllers, simulated nodes, and simulated Redis servers. The tests count the operator's API calls in
// the audit log.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var (
	env operator.Suite
	// store simulates all Redis servers of the tests.
	store = &redissim.World{SyncLooks: 2}
)

func TestMain(m *testing.M) { operator.Main(m, &env, redisenterprisecluster.KindWith(store.Dial)) }
