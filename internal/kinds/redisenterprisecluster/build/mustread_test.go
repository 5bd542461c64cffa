// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

// from holds the default images of the agent and of the Redis server.
var from = desired.Images{Agent: "opcrew/opcrew-agent:test", Redis: "docker.io/valkey/valkey:8.1"}

// mustRead parses a spec, and fails the test if the spec is invalid.
func mustRead(t *testing.T, c *clustertest.Cluster) desired.Spec {
	t.Helper()
	r, err := desired.Read(c, from)
	if err != nil {
		t.Fatalf("expected the spec to be read, got %v", err)
	}
	return r
}
