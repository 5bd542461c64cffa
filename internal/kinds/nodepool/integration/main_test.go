// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests NodePool with the real manager under its ServiceAccount and roles. The API server and the
// Kubernetes controllers are real; nodes are simulated. The tests read the API calls of the manager from the audit log.
// Pure functions have unit tests next to their code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, nodepool.Kind()) }

// nodeWrites returns the accepted patches of nodes.
func nodeWrites(cs testenv.Calls) testenv.Calls {
	return cs.Writes().On("nodes").Where(func(c testenv.Call) bool { return c.Code < 400 })
}

// statusWrites returns the writes of NodePools' statuses.
func statusWrites(cs testenv.Calls) testenv.Calls { return cs.Writes().On("nodepools/status") }
