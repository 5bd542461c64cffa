// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"net/netip"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func address(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func TestAnAddressHasTenFailuresAndThenOneASecond(t *testing.T) {
	clock := clocktesting.NewFakeClock(noon())
	l := New(clock)
	tries := func(want int) {
		t.Helper()
		got := 0
		for ; got < 100 && l.Allows(address(1)); got++ {
			l.Failed(address(1))
		}
		if got != want {
			t.Errorf("%d tries, expected %d", got, want)
		}
	}
	tries(10)
	tries(0)
	clock.Step(999 * time.Millisecond)
	tries(0)
	clock.Step(time.Millisecond)
	tries(1)
	clock.Step(3 * time.Second)
	tries(3)
	clock.Step(time.Hour)
	tries(10)
	if !l.Allows(address(2)) {
		t.Error("another address is refused")
	}
}

func TestAskingWithoutFailingCostsNothing(t *testing.T) {
	l := New(clocktesting.NewFakeClock(noon()))
	for range 100 {
		if !l.Allows(address(1)) {
			t.Fatal("refused without a failure")
		}
	}
	if l.addresses.Len() != 0 {
		t.Error("an address without a failure takes memory")
	}
}

func TestTheLimiterForgetsTheAddressSeenLongestAgo(t *testing.T) {
	l := New(clocktesting.NewFakeClock(noon()))
	for range FailuresAtOnce {
		l.Failed(address(0))
	}
	for n := range uint32(addressesKept - 1) {
		l.Failed(address(n + 1))
	}
	if l.Allows(address(0)) {
		t.Error("forgotten too early")
	}
	for n := range uint32(2 * addressesKept) {
		l.Failed(address(n + addressesKept))
	}
	if !l.Allows(address(0)) || l.addresses.Len() != addressesKept {
		t.Errorf("%d addresses are kept, expected %d", l.addresses.Len(), addressesKept)
	}
}
