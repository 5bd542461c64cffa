// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A kind may need the types of two other kinds, of which only one is installed.
func TestPeersOfOneAPIGroupAreInstalledTogether(t *testing.T) {
	kind := Registration{Peers: map[string]client.Object{"as.one.example.com": nil, "bs.one.example.com": nil, "cs.two.example.com": nil, "ds.one.example": nil}}
	for name, want := range map[string][]string{
		"as.one.example.com": {"as.one.example.com", "bs.one.example.com"},
		"cs.two.example.com": {"cs.two.example.com"},
		"ds.one.example":     {"ds.one.example"},
	} {
		if got := kind.peersLike(name).CRDs; !slices.Equal(got, want) {
			t.Errorf("peers like %s: expected %v, got %v", name, want, got)
		}
	}
}
