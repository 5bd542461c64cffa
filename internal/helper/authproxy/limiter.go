// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

const (
	failuresAtOnce    = 10
	failuresPerSecond = 1
	addressesKept     = 10000
)

// limiter counts wrong passwords by the address that they came from. The address
// looked at longest ago is forgotten first.
type limiter struct {
	clock clock.PassiveClock

	mu        sync.Mutex
	addresses *lru.Cache
}

func newLimiter(c clock.PassiveClock) *limiter {
	return &limiter{clock: c, addresses: lru.New(addressesKept)}
}

// allows says whether a password from there is looked at. It takes nothing, so that
// right passwords cost an address nothing.
func (l *limiter) allows(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.addresses.Get(from)
	return !ok || found.(*rate.Limiter).TokensAt(l.clock.Now()) >= 1
}

func (l *limiter) failed(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.addresses.Get(from)
	if !ok {
		found = rate.NewLimiter(failuresPerSecond, failuresAtOnce)
		l.addresses.Add(from, found)
	}
	found.(*rate.Limiter).AllowN(l.clock.Now(), 1)
}

// retryAfter is when a refused address may try again at the earliest.
const retryAfter = time.Second / failuresPerSecond
