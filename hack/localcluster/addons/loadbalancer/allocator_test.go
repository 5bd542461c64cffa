// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"net/netip"
	"testing"
)

// pool returns an allocator with six usable addresses, .1 to .6.
func pool() *Allocator { return NewAllocator(netip.MustParsePrefix("10.0.0.0/29")) }

func assign(t *testing.T, a *Allocator, owner, request string) string {
	t.Helper()
	var requested netip.Addr
	if request != "" {
		requested = netip.MustParseAddr(request)
	}
	address, err := a.Assign(owner, requested)
	if err != nil {
		return err.Error()
	}
	return address.String()
}

func TestOwnersKeepTheirAddress(t *testing.T) {
	a := pool()
	for range 2 {
		if got := assign(t, a, "x/a", ""); got != "10.0.0.1" {
			t.Errorf("a has %s, want the lowest", got)
		}
		if got := assign(t, a, "x/b", ""); got != "10.0.0.2" {
			t.Errorf("b has %s, want the next", got)
		}
	}
}

func TestAReleasedAddressIsGivenOutAgain(t *testing.T) {
	a := pool()
	assign(t, a, "x/a", "")
	assign(t, a, "x/b", "")
	a.Release("x/a")
	a.Release("x/a")
	a.Release("x/nobody")
	if got := assign(t, a, "x/c", ""); got != "10.0.0.1" {
		t.Errorf("c has %s, want what a had", got)
	}
}

func TestAFullRangeIsRefusedAndServesAgainAfterARelease(t *testing.T) {
	a := pool()
	for _, owner := range []string{"1", "2", "3", "4", "5", "6"} {
		assign(t, a, owner, "")
	}
	if got := assign(t, a, "7", ""); got != "all addresses of 10.0.0.0/29 are in use" {
		t.Errorf("the seventh of six got %s", got)
	}
	a.Release("4")
	if got := assign(t, a, "7", ""); got != "10.0.0.4" {
		t.Errorf("after a release: %s", got)
	}
}

func TestARequestedAddressIsGrantedWhenFreeAndRefusedWithAReason(t *testing.T) {
	a := pool()
	assign(t, a, "x/a", "")
	cases := []struct{ owner, request, want string }{
		{"x/b", "10.0.0.5", "10.0.0.5"},
		{"x/b", "", "10.0.0.5"},
		{"x/b", "10.0.0.3", "10.0.0.3"},
		{"x/c", "10.0.0.5", "10.0.0.5"},
		{"x/d", "10.0.0.1", "address 10.0.0.1 is in use by x/a"},
		{"x/d", "10.0.0.7", "address 10.0.0.7 is not in the range 10.0.0.0/29"},
		{"x/d", "10.0.0.0", "address 10.0.0.0 is not in the range 10.0.0.0/29"},
		{"x/d", "192.0.2.1", "address 192.0.2.1 is not in the range 10.0.0.0/29"},
	}
	for _, c := range cases {
		if got := assign(t, a, c.owner, c.request); got != c.want {
			t.Errorf("%s requests %q: %s, want %s", c.owner, c.request, got, c.want)
		}
	}
}

func TestHoldTakesOverWhatWasGivenOutBefore(t *testing.T) {
	a := pool()
	first := netip.MustParseAddr("10.0.0.1")
	for range 2 {
		if !a.Hold("x/old", first) {
			t.Error("an owner could not take over its own address")
		}
	}
	if a.Hold("x/thief", first) || a.Hold("x/far", netip.MustParseAddr("192.0.2.1")) {
		t.Error("an address of another owner, or outside the range, was taken over")
	}
	if got := assign(t, a, "x/new", ""); got != "10.0.0.2" {
		t.Errorf("a new owner has %s", got)
	}
}
