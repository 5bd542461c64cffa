// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/shared/limiter"
)

const (
	// maxWaiting is how many passwords may wait for a CPU core, and maxWait how long each of them may wait.
	maxWaiting = 256
	maxWait    = 5 * time.Second
)

// checker verifies passwords. It hashes a correct password only once, and remembers that it is correct. After that,
// requests with this password are delayed neither by a flood of wrong passwords nor by the limit on attempts.
type checker struct {
	key     []byte
	clock   clock.Clock
	limiter *limiter.Limiter
	metrics *metrics
	slots   chan struct{}
	waiting atomic.Int32
	verify  func(c *credentials, user, password string) *line
}

func newChecker(c clock.Clock, m *metrics) *checker {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // rand.Read never fails
	return &checker{
		key: key, clock: c, limiter: limiter.New(c), metrics: m,
		// One core stays free for requests with a known password.
		slots:  make(chan struct{}, min(max(1, runtime.GOMAXPROCS(0)-1), limiter.FailuresAtOnce)),
		verify: (*credentials).verify,
	}
}

// check returns nil if the password is correct, or the reason to refuse the request.
func (c *checker) check(ctx context.Context, set *credentials, from netip.Addr, user, password string) error {
	d := c.digest(user, password)
	if known, err := c.recall(set, user, d); known {
		return err
	}
	for {
		if !c.limiter.Allows(from) {
			return errLimited
		}
		flight := set.flights.DoChan(string(d[:]), func() (any, error) {
			return from, c.inSlot(set, from, user, password, d)
		})
		select {
		case <-ctx.Done():
			return errGone
		case result := <-flight:
			// Another client shares this check, and the check was refused because of the limit for the other client's
			// address. The address of this client may not have reached its limit, so check again.
			if errors.Is(result.Err, errLimited) && result.Val != from {
				continue
			}
			return result.Err
		}
	}
}

// recall answers repeated requests without hashing. It also remembers wrong passwords. A client that repeats a wrong
// one must not use up the limit of its address, which all clients behind a gateway may share.
func (c *checker) recall(set *credentials, user string, d digest) (known bool, err error) {
	if set.remembers(user, d, c.clock.Now()) {
		c.metrics.cacheHits.Add(1)
		return true, nil
	}
	if _, found := set.wrong.Get(d); found {
		return true, errWrong
	}
	return false, nil
}

// inSlot verifies a password when a core is free. After that wait it checks again how many wrong passwords the client's
// address has sent, so that a burst of requests cannot exceed the limit.
func (c *checker) inSlot(set *credentials, from netip.Addr, user, password string, d digest) error {
	if !c.enter() {
		return errBusy
	}
	defer func() { <-c.slots }()
	if known, err := c.recall(set, user, d); known {
		return err
	}
	if !c.limiter.Allows(from) {
		return errLimited
	}
	found := c.verify(set, user, password)
	if found == nil {
		c.limiter.Failed(from)
		set.wrong.Add(d, nil)
		return errWrong
	}
	found.memory.set(d, c.clock.Now())
	return nil
}

func (c *checker) enter() bool {
	defer c.waiting.Add(-1)
	if c.waiting.Add(1) > maxWaiting {
		return false
	}
	timer := c.clock.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case c.slots <- struct{}{}:
		return true
	case <-timer.C():
		return false
	}
}

// digest returns the digest of a user and a password. Two different pairs never give the same input, because a user
// name contains no colon.
func (c *checker) digest(user, password string) (d digest) {
	mac := hmac.New(sha256.New, c.key)
	mac.Write([]byte(user))
	mac.Write([]byte{':'})
	mac.Write([]byte(password))
	mac.Sum(d[:0])
	return d
}
