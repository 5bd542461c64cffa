// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
)

// from are the images that pods are created from.
var from = Images{Agent: "opcrew/opcrew-agent:test", Redis: "docker.io/valkey/valkey:8.1"}

// mustRead reads a valid spec.
func mustRead(t *testing.T, c *clustertest.Cluster) Spec {
	t.Helper()
	r, err := Read(c, from)
	if err != nil {
		t.Fatalf("expected the spec to be read, got %v", err)
	}
	return r
}
