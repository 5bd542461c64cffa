// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests EtcdCluster as a user meets it: the real manager, under the
// ServiceAccount and the roles that are deployed, on a real API server with the real
// controllers, simulated nodes, and members of etcd in memory. What calls it makes is read
// from the server's audit log. Pure functions are tested beside their code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var (
	env operator.Suite
	// store is all the etcd there is.
	store = &etcdtest.World{LearnerLooks: 2, VersionLooks: 3, AdvanceMost: 4000}
)

func TestMain(m *testing.M) { operator.Main(m, &env, etcdcluster.KindWith(store.Dial)) }
