// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"

	"github.com/opcrew/opcrew/internal/podapi/htpasswd"
)

const (
	// memoryLife is how long a verified password is remembered without being used.
	memoryLife = 10 * time.Minute
	// wrongRemembered is how many wrong passwords are remembered.
	wrongRemembered = 1000
)

// digest identifies a user and a password: an HMAC under a random key of this process.
type digest [sha256.Size]byte

// line is a line of credentials. It also remembers the password that matched its hash.
type line struct {
	*htpasswd.Line
	memory memory
}

// credentials holds the lines from one read of a Secret. A later read creates a new value, so that a check never mixes
// two versions of the Secret.
type credentials struct {
	from  string
	count int
	users map[string][]*line
	work  uint64 // the cost of checking all lines of a user; the maximum over all users

	flights singleflight.Group
	wrong   *lru.Cache
}

// newCredentials reuses the unchanged lines of the previous credentials (old), with the passwords that they remember.
// Otherwise, the passwords of all users would be hashed again whenever a user is added.
func newCredentials(from string, lines []*htpasswd.Line, old *credentials) *credentials {
	c := &credentials{from: from, count: len(lines), users: map[string][]*line{}, wrong: lru.New(wrongRemembered)}
	for _, l := range lines {
		c.users[l.User] = append(c.users[l.User], old.find(l))
	}
	for _, lines := range c.users {
		work := uint64(0)
		for _, l := range lines {
			work += l.Work()
		}
		c.work = max(c.work, work)
	}
	return c
}

func (c *credentials) find(wanted *htpasswd.Line) *line {
	if c == nil {
		return &line{Line: wanted}
	}
	for _, l := range c.users[wanted.User] {
		if l.Same(wanted) {
			return l
		}
	}
	return &line{Line: wanted}
}

// verify returns the line that matches the password; nil if none does. Every wrong password costs the same work, even
// for an unknown user, so that the response time does not reveal which users exist.
func (c *credentials) verify(user, password string) *line {
	spent := uint64(0)
	for _, l := range c.users[user] {
		if l.Matches(password) {
			return l
		}
		spent += l.Work()
	}
	htpasswd.Waste(password, c.work-spent)
	return nil
}

// remembers reports whether this password has already matched a line that is still valid.
func (c *credentials) remembers(user string, d digest, now time.Time) bool {
	for _, l := range c.users[user] {
		if l.memory.holds(d, now) {
			return true
		}
	}
	return false
}

// memory holds the digest of the password that matched a line; empty until one has matched.
type memory struct{ entry atomic.Pointer[remembered] }

type remembered struct {
	digest digest
	used   atomic.Int64
}

func (m *memory) set(d digest, now time.Time) {
	entry := &remembered{digest: d}
	entry.used.Store(now.UnixNano())
	m.entry.Store(entry)
}

func (m *memory) holds(d digest, now time.Time) bool {
	entry := m.entry.Load()
	if entry == nil || !hmac.Equal(entry.digest[:], d[:]) {
		return false
	}
	age := time.Duration(now.UnixNano() - entry.used.Load())
	if age > memoryLife {
		return false
	}
	if age > time.Second { // update the time at most once per second, to avoid contention
		entry.used.Store(now.UnixNano())
	}
	return true
}
