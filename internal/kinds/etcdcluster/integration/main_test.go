// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests EtcdCluster end to end: the real manager with its deployed ServiceAccount and roles, a real
// API server with the real controllers, simulated nodes, and simulated etcd members. The tests read the operator's API
// calls from the server's audit log.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var (
	env operator.Suite
	// store simulates all etcd clusters of the tests in memory.
	store = &etcdtest.World{LearnerLooks: 2, VersionLooks: 3, AdvanceMost: 4000}
)

func TestMain(m *testing.M) { operator.Main(m, &env, etcdcluster.KindWith(store.Dial)) }
