// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures the load that a client creates, and its timeouts.
type Options struct {
	URLs []string // of members, or of a proxy for members
	TLS  *tls.Config
	Dial Dial
	// Prefix is the prefix of all keys that the client uses. No other client may use the same prefix.
	Prefix string
	// Workers is the number of workers that put, get and swap (default 6). Watchers is the number of watches (default
	// 3).
	Workers, Watchers int
	// Think is how long a worker pauses between two requests. The default is 20 ms.
	Think time.Duration
	// Attempt is how long a client waits for the response of one member. The default is 2 s.
	Attempt time.Duration
	// Patience is how long a client retries a request before the request counts as failed. The default is 15 s.
	Patience time.Duration

	open func(url string) (Store, error)
}

func (o Options) orDefaults() Options {
	o.Workers, o.Watchers = max(o.Workers, 0), max(o.Watchers, 0)
	if o.Workers == 0 {
		o.Workers = 6
	}
	if o.Watchers == 0 {
		o.Watchers = 3
	}
	for d, value := range map[*time.Duration]time.Duration{&o.Think: 20 * time.Millisecond, &o.Attempt: 2 * time.Second, &o.Patience: 15 * time.Second} {
		if *d == 0 {
			*d = value
		}
	}
	if o.open == nil {
		o.open = func(url string) (Store, error) { return Open(url, o.TLS, o.Dial) }
	}
	return o
}

// Client continuously sends requests from Start to Stop, and records the responses.
type Client struct {
	Options
	History *History
	pool    *pool
	values  atomic.Int64 // number of values written

	stop    context.CancelFunc // ends the workers
	end     context.CancelFunc // ends all goroutines
	workers sync.WaitGroup
	others  sync.WaitGroup

	mu     sync.Mutex
	report Report
}

// Start starts a client. The cluster must be reachable, because the client reads the revision at which its watches
// start.
func Start(ctx context.Context, options Options) (*Client, error) {
	c := &Client{Options: options.orDefaults(), History: newHistory()}
	var err error
	if c.pool, err = newPool(c.URLs, c.open); err != nil {
		return nil, err
	}
	answer, err := c.get(ctx, 0, c.Prefix+"begin", c.Patience)
	if err != nil {
		c.pool.close()
		return nil, fmt.Errorf("the cluster does not answer its client: %w", err)
	}
	var all, work context.Context
	all, c.end = context.WithCancel(context.WithoutCancel(ctx))
	work, c.stop = context.WithCancel(all)
	c.others.Go(func() { c.pool.refresh(all, c.Attempt) })
	for i := range c.Watchers {
		w := c.History.watch(fmt.Sprint("w", i), answer.Revision+1)
		c.others.Go(func() { c.watch(all, w) })
	}
	for i := range c.Workers {
		c.workers.Go(func() { c.work(work, i+1) })
	}
	return c, nil
}

// Stop ends the requests of the workers, reads every key once more, and waits until all watches have received all
// writes. Then it checks the history. If the reads or the watches take longer than patience, Stop reports a violation.
func (c *Client) Stop(patience time.Duration) (*Report, []string) {
	c.stop()
	c.workers.Wait()
	err := c.lastLook(patience)
	report, violations := c.Abandon()
	if err != nil {
		violations = append(violations, "in the end, "+err.Error())
	}
	return report, violations
}

// Abandon ends the client without reading the keys again, and checks the history that the client has recorded.
func (c *Client) Abandon() (*Report, []string) {
	c.stop()
	c.workers.Wait()
	c.end()
	c.others.Wait()
	c.pool.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	report := c.report
	report.count(c.History)
	return &report, c.History.Check()
}

// lastLook reads every key once. Without this read, a lost write would stay unnoticed if no request read the key after
// it. Then lastLook waits until all watches have received all writes.
func (c *Client) lastLook(patience time.Duration) error {
	deadline := time.Now().Add(patience)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	for _, key := range c.History.keys() {
		if _, err := c.get(ctx, 0, key, time.Until(deadline)); err != nil {
			return fmt.Errorf("key %s could not be read: %w", key, err)
		}
	}
	last, err := c.put(ctx, 0, c.Prefix+"end", time.Until(deadline))
	if err != nil {
		return fmt.Errorf("nothing could be written: %w", err)
	}
	for late := c.History.behind(last.Revision); len(late) > 0; late = c.History.behind(last.Revision) {
		if ctx.Err() != nil {
			return fmt.Errorf("watches %v missed revision %d", late, last.Revision)
		}
		pause(ctx, 20*time.Millisecond)
	}
	return nil
}

// Totals returns the numbers of requests that the client has made.
func (c *Client) Totals() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.report
}

// errImpatient is the cause of an attempt that ended because the member did not respond in time.
var errImpatient = errors.New("no answer in time")
