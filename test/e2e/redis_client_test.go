// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	// redisWriters is the number of concurrent writers. redisKeys is the number of keys that each writer writes in
	// turn.
	redisWriters = 4
	redisKeys    = 500
)

// redisClient is a client of a Redis cluster that finds the addresses of the current pods. A test can change its
// password.
type redisClient struct {
	*goredis.ClusterClient
	mu       sync.Mutex
	password string
}

func (r *redisTest) client(t *testing.T) *redisClient {
	t.Helper()
	out := &redisClient{password: r.password(t)}
	var addresses []string
	for _, pod := range r.pods(t) {
		addresses = append(addresses, net.JoinHostPort(pod.Status.PodIP, "6379"))
	}
	out.ClusterClient = goredis.NewClusterClient(&goredis.ClusterOptions{
		Addrs: addresses, MaxRedirects: 16, MinRetryBackoff: 20 * time.Millisecond, MaxRetryBackoff: 500 * time.Millisecond,
		// Set short timeouts, so that the outdated address of a pod does not delay a command.
		DialTimeout: time.Second, DialerRetries: 1, ReadTimeout: 2 * time.Second,
		CredentialsProvider: func() (string, string) {
			out.mu.Lock()
			defer out.mu.Unlock()
			return "default", out.password
		},
	})
	t.Cleanup(func() { _ = out.Close() })
	return out
}

func (c *redisClient) use(password string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.password = password
}

// put writes a value and waits until a replica has the value too. If put returns an error, the value may or may not
// exist.
func (c *redisClient) put(ctx context.Context, key string, n int) error {
	primary, err := c.MasterForKey(ctx, key)
	if err != nil {
		return err
	}
	pipe := primary.Pipeline()
	set, wait := pipe.Set(ctx, key, n, 0), pipe.Do(ctx, "WAIT", 1, 1000)
	_, _ = pipe.Exec(ctx) // each command has its own error
	if err := set.Err(); err != nil {
		if strings.HasPrefix(err.Error(), "MOVED") {
			c.ReloadState(ctx)
		}
		return err
	}
	if copies, err := wait.Int(); err != nil || copies < 1 {
		return errors.Join(err, errors.New("no replica has the write yet"))
	}
	return nil
}

// redisWriter writes without pauses, and records which writes were acknowledged.
type redisWriter struct {
	of    *redisTest
	write func(ctx context.Context, key string, n int) error
	end   context.CancelFunc
	ended sync.WaitGroup

	mu     sync.Mutex
	acked  map[string]int
	last   map[string]time.Time // time of each writer's last acknowledged write
	gap    time.Duration        // longest time between two acknowledged writes of the same writer
	writes int
	errs   []error
}

// longest returns the longest time in which a writer had no acknowledged write.
func (w *redisWriter) longest() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gap
}

// confirmed starts writers that wait until a replica has each write. Its counterpart plain starts writers that, like
// most clients, do not wait for a replica.
func (r *redisTest) confirmed(t *testing.T) *redisWriter {
	return begin(t, r, r.client(t).put)
}

func (r *redisTest) plain(t *testing.T) *redisWriter { return r.plainBy(t, r.client(t)) }

func (r *redisTest) plainBy(t *testing.T, c *redisClient) *redisWriter {
	return begin(t, r, func(ctx context.Context, key string, n int) error { return c.Set(ctx, key, n, 0).Err() })
}

func begin(t *testing.T, r *redisTest, write func(context.Context, string, int) error) *redisWriter {
	ctx, end := context.WithCancel(context.Background())
	w := &redisWriter{of: r, write: write, end: end, acked: map[string]int{}, last: map[string]time.Time{}}
	for i := range redisWriters {
		w.ended.Go(func() { w.run(ctx, i) })
	}
	t.Cleanup(w.stop)
	return w
}

func (w *redisWriter) run(ctx context.Context, who int) {
	for n := 1; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("%d:%d", who, n%redisKeys)
		call, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := w.write(call, key, n)
		cancel()
		w.note(key, n, err)
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *redisWriter) note(key string, n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if err != nil {
		w.errs = append(w.errs, fmt.Errorf("%s %s: %w", time.Now().Format("15:04:05.000"), key, err))
		return
	}
	w.acked[key] = n
	who, _, _ := strings.Cut(key, ":")
	if last, known := w.last[who]; known {
		w.gap = max(w.gap, time.Since(last))
	}
	w.last[who] = time.Now()
}

func (w *redisWriter) stop() {
	w.end()
	w.ended.Wait()
}

// wantAll stops the writers, and checks that all acknowledged writes exist. A key may have a later value, because a
// write without acknowledgement may have been executed. The check uses a new client, which has no outdated addresses.
func (w *redisWriter) wantAll(t *testing.T) {
	t.Helper()
	w.stop()
	var lost []string
	reader := w.of.client(t)
	for key, n := range w.acked {
		if got, err := reader.Get(t.Context(), key).Int(); err != nil || got < n {
			lost = append(lost, fmt.Sprintf("%s: %d, not %d (%v)", key, got, n, err))
		}
	}
	t.Logf("%d writes, %d errors, %d keys", w.writes, len(w.errs), len(w.acked))
	if len(lost) > 0 || len(w.acked) == 0 {
		t.Errorf("expected what was acknowledged to be kept; of %d keys %d are lost: %s", len(w.acked), len(lost), strings.Join(lost[:min(len(lost), 8)], "; "))
	}
}

// wantNoErrors stops the writers, and checks that no write had an error.
func (w *redisWriter) wantNoErrors(t *testing.T) {
	t.Helper()
	w.stop()
	if len(w.errs) > 0 {
		t.Errorf("expected clients to notice nothing; %d of %d writes failed: %v", len(w.errs), w.writes, errors.Join(w.errs[:min(len(w.errs), 8)]...))
	}
}
