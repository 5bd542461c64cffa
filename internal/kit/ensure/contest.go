// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Two controllers that set different values in one field would overwrite each other forever. If opcrew has repaired an
// object contestLimit times within contestWindow, it pauses the repairs. The pause starts at contestFirst and doubles
// up to contestLongest, and the condition names the other manager.
const (
	contestLimit   = 3
	contestWindow  = time.Minute
	contestFirst   = time.Minute
	contestLongest = 16 * time.Minute
)

// contests detects objects whose repairs other managers undo again and again.
type contests struct {
	mu    sync.Mutex
	byUID map[types.UID]*contest
	sweep int // number of entries in byUID at which the entries of ended contests are removed
}

type contest struct {
	intent  string
	repairs []time.Time
	until   time.Time
	backoff time.Duration
}

// enter counts a write to an object. It returns 0 if the write may happen. Otherwise it returns how long to leave the
// object unchanged, because another manager keeps undoing the writes.
func (c *contests) enter(uid types.UID, intent string, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	record := c.byUID[uid]
	if record == nil || record.intent != intent {
		record = c.begin(uid, intent, now)
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

func (c *contests) begin(uid types.UID, intent string, now time.Time) *contest {
	c.dropOver(now)
	if c.byUID == nil {
		c.byUID = map[types.UID]*contest{}
	}
	c.byUID[uid] = &contest{intent: intent}
	return c.byUID[uid]
}

// dropOver removes the records of objects whose writes are no longer undone by another manager. Otherwise, memory would
// grow with every object that was ever written.
func (c *contests) dropOver(now time.Time) {
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

func (c *contests) withdraw(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if record := c.byUID[uid]; record != nil && len(record.repairs) > 0 {
		record.repairs = record.repairs[:len(record.repairs)-1]
	}
}

// settle ends a contest with another manager if the object needed no repair for longer than the last wait. It also
// removes repairs that are too old to count.
func (c *contests) settle(uid types.UID, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if record := c.byUID[uid]; record != nil && record.over(now) {
		delete(c.byUID, uid)
	}
}

// forget removes what contests has recorded about an object that is gone.
func (c *contests) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byUID, uid)
}

// over reports whether the contest with another manager has ended: the object needed no repair for longer than the last
// wait.
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
