// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Two controllers that both insist on a field would write for ever. After
// contestLimit repairs within contestWindow the object is left alone for a while that
// doubles from contestFirst to contestLongest; the condition then names the other one.
const (
	contestLimit   = 3
	contestWindow  = time.Minute
	contestFirst   = time.Minute
	contestLongest = 16 * time.Minute
)

// Contests tells repairs of drift that help from those that are undone again and again.
type Contests struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	byUID map[types.UID]*contest
	sweep int // as soon as there are so many, those that are over are dropped
}

type contest struct {
	intent  string
	repairs []time.Time
	until   time.Time
	backoff time.Duration
}

// NewContests returns an empty record of repairs.
func NewContests(clock clock.PassiveClock) *Contests {
	return &Contests{clock: clock, byUID: map[types.UID]*contest{}}
}

// Enter asks for leave to bring an object to an intent, of which it gets a hash. It
// returns 0 and counts the write, or how long to leave the object alone. A new
// intent begins a new count: a user who edits often is no one's rival.
func (c *Contests) Enter(uid types.UID, intent string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	record := c.byUID[uid]
	if record == nil || record.intent != intent {
		c.dropOver(now)
		record = &contest{intent: intent}
		c.byUID[uid] = record
	}
	if wait := record.until.Sub(now); wait > 0 {
		return wait
	}
	if record.over(now) {
		record.backoff = 0
	}
	if len(record.repairs) < contestLimit {
		record.repairs = append(record.repairs, now)
		return 0
	}
	record.backoff = min(max(2*record.backoff, contestFirst), contestLongest)
	record.until, record.repairs = now.Add(record.backoff), nil
	return record.backoff
}

// Until says when a wait is over, so that words about it stay the same meanwhile.
func (c *Contests) Until(wait time.Duration) string {
	return c.clock.Now().Add(wait).UTC().Round(time.Second).Format("15:04:05Z")
}

// dropOver keeps the record from growing with every object that was ever written.
func (c *Contests) dropOver(now time.Time) {
	if len(c.byUID) < c.sweep {
		return
	}
	for uid, record := range c.byUID {
		if record.over(now) {
			delete(c.byUID, uid)
		}
	}
	c.sweep = max(1024, 2*len(c.byUID))
}

// Withdraw takes back the count of a write that failed: what did not change the object
// was not changed back by anybody, and is tried again by the rules for failures.
func (c *Contests) Withdraw(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if record := c.byUID[uid]; record != nil && len(record.repairs) > 0 {
		record.repairs = record.repairs[:len(record.repairs)-1]
	}
}

// Settle ends a contest once the object has been as declared for longer than the
// last wait, and forgets repairs that are too old to count.
func (c *Contests) Settle(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	record := c.byUID[uid]
	if record == nil {
		return
	}
	if record.over(c.clock.Now()) {
		delete(c.byUID, uid)
	}
}

// Forget drops the record of an object that is gone.
func (c *Contests) Forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byUID, uid)
}

// over reports whether nothing was repaired for longer than the last wait.
func (c *contest) over(now time.Time) bool {
	c.dropBefore(now.Add(-contestWindow))
	return len(c.repairs) == 0 && now.After(c.until.Add(c.backoff))
}

func (c *contest) dropBefore(start time.Time) {
	kept := c.repairs[:0]
	for _, at := range c.repairs {
		if at.After(start) {
			kept = append(kept, at)
		}
	}
	c.repairs = kept
}
