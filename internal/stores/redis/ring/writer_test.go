// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// writer is a client that writes continuously and records which writes were acknowledged.
type writer struct {
	t      *testing.T
	client *goredis.ClusterClient
	end    context.CancelFunc
	ended  sync.WaitGroup

	mu     sync.Mutex
	acked  map[string]int
	writes int
	errs   []error
}

const (
	writers = 4
	// keysEach is how many keys each client writes, one after the other.
	keysEach = 2000
)

func (o *operator) client() *goredis.ClusterClient {
	var addresses []string
	for i, p := range o.pods {
		if !o.gone[i] {
			addresses = append(addresses, p.home.address, p.guest.address)
		}
	}
	return goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: addresses, Username: "default", Password: secret})
}

func (o *operator) write() *writer {
	o.t.Helper()
	ctx, end := context.WithCancel(context.Background())
	w := &writer{t: o.t, end: end, acked: map[string]int{}, client: o.client()}
	for i := range writers {
		w.ended.Go(func() { w.run(ctx, i) })
	}
	o.t.Cleanup(w.stop)
	return w
}

func (w *writer) run(ctx context.Context, who int) {
	for n := 1; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("%d:%d", who, n%keysEach)
		err := w.client.Set(context.Background(), key, n, 0).Err()
		w.note(key, n, err)
		if err == nil && n%8 == 0 {
			w.check(key, n)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (w *writer) note(key string, n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if err != nil {
		w.errs = append(w.errs, fmt.Errorf("%s set %s: %w", time.Now().Format("05.000"), key, err))
		return
	}
	w.acked[key] = n
}

// check reads a key, and compares its value with the last acknowledged one.
func (w *writer) check(key string, n int) {
	got, err := w.client.Get(context.Background(), key).Int()
	if err == nil && got < n {
		err = fmt.Errorf("it is %d, and %d was acknowledged", got, n)
	}
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.errs = append(w.errs, fmt.Errorf("%s get %s: %w", time.Now().Format("05.000"), key, err))
	}
}

func (w *writer) stop() {
	w.end()
	w.ended.Wait()
}

// lost stops the writer, and returns the keys that do not have their last acknowledged value. A failed write may have
// been executed, so a later value is not a loss.
func (w *writer) lost(client *goredis.ClusterClient) []string {
	w.stop()
	var out []string
	for key, n := range w.acked {
		if got, err := client.Get(context.Background(), key).Int(); err != nil || got < n {
			out = append(out, fmt.Sprintf("%s: %d, not %d (%v)", key, got, n, err))
		}
	}
	return out
}

// spotless expects that no client got an error and no write is lost.
func (w *writer) spotless() {
	w.t.Helper()
	if lost := w.lost(w.client); len(lost) > 0 {
		w.t.Errorf("%d of %d keys lost what was acknowledged, such as %s", len(lost), len(w.acked), lost[0])
	}
	w.t.Logf("%d writes, %d errors", w.writes, len(w.errs))
	if len(w.errs) > 0 {
		w.t.Errorf("%d of %d operations failed, such as %v", len(w.errs), w.writes, w.errs[0])
	}
}
