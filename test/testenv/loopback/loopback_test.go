// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"net"
	"testing"
)

func TestAddressesAreFreeAndGivenOnce(t *testing.T) {
	for range 600 {
		listener, err := net.Listen("tcp", Address()) // fails if another listener uses the address
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() }) // frees the address
		if host, _, _ := net.SplitHostPort(listener.Addr().String()); host == "127.0.0.1" {
			t.Errorf("expected no address that others use too, got %s", host)
		}
	}
}
