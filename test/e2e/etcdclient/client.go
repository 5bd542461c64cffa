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

// Options say how busy a client is, and how patient.
type Options struct {
	URLs []string // of members, or of what leads to them
	TLS  *tls.Config
	Dial Dial
	// Prefix is of all keys, and no other client's.
	Prefix string
	// Workers put, get and swap; 6 if not said. Watchers watch; 3 if not said.
	Workers, Watchers int
	// Think is a worker's pause between two requests; 20 ms if not said.
	Think time.Duration
	// Attempt is how long one member may take; 2 s if not said.
	Attempt time.Duration
	// Patience is how long a request is tried again before it has failed; 15 s if not said.
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

// Client asks without a break from Start to Stop.
type Client struct {
	Options
	History *History
	pool    *pool
	values  atomic.Int64 // that were given out

	stop    context.CancelFunc // ends the workers
	end     context.CancelFunc // ends all
	workers sync.WaitGroup
	others  sync.WaitGroup

	mu     sync.Mutex
	report Report
}

// Start has a client begin. The cluster must answer: a watch needs a revision to begin at.
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

// Stop ends the client, reads every key once more, waits until all watches have been informed of
// all, and judges. patience is for that end, in which the cluster must answer again.
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

// Abandon ends the client as it is, and judges what it saw so far.
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

// lastLook is where a lost write shows that no one asked for since.
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
			return fmt.Errorf("watches %v were not told revision %d", late, last.Revision)
		}
		pause(ctx, 20*time.Millisecond)
	}
	return nil
}

// Totals is how much was done so far.
func (c *Client) Totals() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.report
}

// errImpatient is why an attempt ended that took too long.
var errImpatient = errors.New("no answer in time")
