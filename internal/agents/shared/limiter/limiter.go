// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package limiter slows down those who guess passwords. What a password is, and how it is
// checked, does not live here.
package limiter

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

const (
	// FailuresAtOnce an address may have, and then failuresPerSecond.
	FailuresAtOnce    = 10
	failuresPerSecond = 1
	addressesKept     = 10000
)

// Limiter counts wrong passwords by the address that they came from. The address
// looked at longest ago is forgotten first.
type Limiter struct {
	clock clock.PassiveClock

	mu        sync.Mutex
	addresses *lru.Cache
}

// New makes a limiter that has seen no failure.
func New(c clock.PassiveClock) *Limiter {
	return &Limiter{clock: c, addresses: lru.New(addressesKept)}
}

// Allows says whether a password from there is looked at. It takes nothing, so that
// right passwords cost an address nothing.
func (l *Limiter) Allows(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.addresses.Get(from)
	return !ok || found.(*rate.Limiter).TokensAt(l.clock.Now()) >= 1
}

// Failed counts a wrong password.
func (l *Limiter) Failed(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.addresses.Get(from)
	if !ok {
		found = rate.NewLimiter(failuresPerSecond, FailuresAtOnce)
		l.addresses.Add(from, found)
	}
	found.(*rate.Limiter).AllowN(l.clock.Now(), 1)
}

// RetryAfter is when a refused address may try again at the earliest.
const RetryAfter = time.Second / failuresPerSecond
