// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package limiter limits attempts to guess passwords, per client address. It does not check passwords.
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
	// FailuresAtOnce is how many wrong passwords an address may send in a burst. After that, it may send
	// failuresPerSecond.
	FailuresAtOnce    = 10
	failuresPerSecond = 1
	addressesKept     = 10000
)

// Limiter counts wrong passwords by client address. When it has too many addresses, it forgets the least recently used
// one.
type Limiter struct {
	clock clock.PassiveClock

	mu        sync.Mutex
	addresses *lru.Cache
}

// New returns a Limiter without recorded failures.
func New(c clock.PassiveClock) *Limiter {
	return &Limiter{clock: c, addresses: lru.New(addressesKept)}
}

// Allows reports whether a password from an address may be checked. Only wrong passwords count, so the limit does not
// affect clients with correct passwords.
func (l *Limiter) Allows(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.addresses.Get(from)
	return !ok || found.(*rate.Limiter).TokensAt(l.clock.Now()) >= 1
}

// Failed counts a wrong password of an address.
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

// RetryAfter is how long a client must wait after it was refused.
const RetryAfter = time.Second / failuresPerSecond
