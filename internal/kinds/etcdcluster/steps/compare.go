// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Comparison holds the hashes of all voters' data at one time.
type Comparison struct {
	At   time.Time
	Sums map[uint64]etcd.Hash
	// Failed explains, by member ID, why a hash is unknown.
	Failed map[uint64]string
}

// Compare returns the step that makes all voters hash their data. It runs in the background.
func Compare(voters []etcd.Member) *Step {
	return &Step{Name: "compare the members", Begin: func(at Site) etcd.Work {
		return etcd.Work{Name: "comparison of the members", Limit: workLimit, Do: func(ctx context.Context, store etcd.Store) {
			out := hashAll(ctx, store, voters)
			if out.lags() { // a member that lags may catch up
				select {
				case <-at.Clock.After(catchUp):
				case <-ctx.Done():
				}
				out = hashAll(ctx, store, voters)
			}
			out.At = at.Clock.Now()
			at.Record(func(h *History) { h.Compared = &out })
		}}
	}}
}

// hashAll makes all voters hash their data concurrently. They hash the same revision, because etcd refuses writes while
// the alarm CORRUPT is raised.
func hashAll(ctx context.Context, store etcd.Store, voters []etcd.Member) Comparison {
	out := Comparison{Sums: map[uint64]etcd.Hash{}, Failed: map[uint64]string{}}
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, m := range voters {
		at, has := m.Endpoint()
		if !has {
			out.Failed[m.ID] = "the member has not started yet, or publishes no address of its pod"
			continue
		}
		asked.Go(func() {
			sum, err := store.Hash(ctx, at)
			mu.Lock()
			defer mu.Unlock()
			if out.Sums[m.ID] = sum; err != nil {
				delete(out.Sums, m.ID)
				out.Failed[m.ID] = err.Error()
			}
		})
	}
	asked.Wait()
	return out
}

// lags reports whether the hashes are of different revisions, which means that some members have not applied all log
// entries.
func (c Comparison) lags() bool {
	first := true
	var revision int64
	for _, sum := range c.Sums {
		if !first && sum.Revision != revision {
			return true
		}
		first, revision = false, sum.Revision
	}
	return false
}

// Majority returns the most frequent hash among the voters, and how many voters have it.
func (c Comparison) Majority(voters []etcd.Member) (sum etcd.Hash, have int) {
	count := map[etcd.Hash]int{}
	for _, m := range voters {
		its, ok := c.Sums[m.ID]
		if !ok {
			continue
		}
		if count[its]++; count[its] > have {
			sum, have = its, count[its]
		}
	}
	return sum, have
}

// Unknown names the first voter whose hash is unknown, and why; empty if all hashes are known.
func (c Comparison) Unknown(voters []etcd.Member) string {
	for _, m := range voters {
		if failed := c.Failed[m.ID]; failed != "" {
			return fmt.Sprintf("member %016x could not be compared: %s", m.ID, failed)
		}
	}
	return ""
}

// catchUp is how long a member may take to apply the log entries that other members have applied.
const catchUp = 5 * time.Second
