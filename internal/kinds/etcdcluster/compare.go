// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// comparison is what the members' data adds up to.
type comparison struct {
	at   time.Time
	sums map[uint64]etcd.Hash
	// failed says of others why it is not known.
	failed map[uint64]string
}

// compare has all voters tell what their data adds up to.
func compare(voters []etcd.Member) *step {
	return &step{name: "compare the members", begin: func(r *reconciler, c *etcdv1beta2.EtcdCluster) etcd.Work {
		return etcd.Work{Name: "comparison of the members", Limit: longestWork, Do: func(ctx context.Context, store etcd.Store) {
			out := sumUp(ctx, store, voters)
			if out.lags() { // or has lost something
				select {
				case <-r.Clock.After(catchUp):
				case <-ctx.Done():
				}
				out = sumUp(ctx, store, voters)
			}
			out.at = r.Clock.Now()
			r.upkeep.note(keyOf(c), c.Status.ClusterID, func(t *tended) { t.compared = &out })
		}}
	}}
}

// sumUp asks all at a time: they answer for the same revision, as no one can write.
func sumUp(ctx context.Context, store etcd.Store, voters []etcd.Member) comparison {
	out := comparison{sums: map[uint64]etcd.Hash{}, failed: map[uint64]string{}}
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, m := range voters {
		if !m.Started() {
			out.failed[m.ID] = "it has not run yet"
			continue
		}
		asked.Go(func() {
			sum, err := store.Hash(ctx, m.ClientURLs[0])
			mu.Lock()
			defer mu.Unlock()
			if out.sums[m.ID] = sum; err != nil {
				delete(out.sums, m.ID)
				out.failed[m.ID] = err.Error()
			}
		})
	}
	asked.Wait()
	return out
}

// lags reports whether some have not carried out what others have.
func (c comparison) lags() bool {
	first := true
	var revision int64
	for _, sum := range c.sums {
		if !first && sum.Revision != revision {
			return true
		}
		first, revision = false, sum.Revision
	}
	return false
}

// most is what most of the voters have, and how many of them do.
func (c comparison) most(voters []etcd.Member) (sum etcd.Hash, have int) {
	count := map[etcd.Hash]int{}
	for _, m := range voters {
		its, ok := c.sums[m.ID]
		if !ok {
			continue
		}
		if count[its]++; count[its] > have {
			sum, have = its, count[its]
		}
	}
	return sum, have
}

// unknown says of the first voter whose data is not known why it is not; nothing if all are.
func (c comparison) unknown(voters []etcd.Member) string {
	for _, m := range voters {
		if failed := c.failed[m.ID]; failed != "" {
			return fmt.Sprintf("member %016x could not be compared: %s", m.ID, failed)
		}
	}
	return ""
}
