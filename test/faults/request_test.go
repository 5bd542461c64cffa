// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"net/http"
	"testing"
)

func TestRequestsAreReadFromTheirPaths(t *testing.T) {
	tests := []struct {
		method, url, want string
		write             bool
	}{
		{"PATCH", "/api/v1/nodes/n-0?fieldManager=opcrew", "patch nodes n-0", true},
		{"PATCH", "/apis/nodes.lailin.xyz/v1/nodepools/gold/status", "patch nodepools/status gold", true},
		{"POST", "/api/v1/namespaces/shop/configmaps", "create configmaps", true},
		{"PUT", "/api/v1/namespaces/shop/configmaps/sign", "update configmaps sign", true},
		{"DELETE", "/apis/node.k8s.io/v1/runtimeclasses/gold", "delete runtimeclasses gold", true},
		{"GET", "/api/v1/namespaces/shop/configmaps/sign", "get configmaps sign", false},
		{"GET", "/api/v1/nodes?limit=500", "list nodes", false},
		{"GET", "/api/v1/nodes?watch=true", "watch nodes", false},
		{"GET", "/api/v1/namespaces/shop", "get namespaces shop", false},
		{"POST", "/apis/events.k8s.io/v1/namespaces/default/events", "create events", false},
		{"PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "update leases b", false},
		{"GET", "/apis", "list", false},
	}
	for _, test := range tests {
		req, err := http.NewRequestWithContext(t.Context(), test.method, "https://server"+test.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := parse(req); got.String() != test.want || got.write() != test.write {
			t.Errorf("%s %s: expected %q, a write: %t; got %q, %t", test.method, test.url, test.want, test.write, got, got.write())
		}
	}
}
