// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// keysAtOnce is the number of keys that workers use at the same time. It is small, so that several workers use the
	// same key.
	keysAtOnce = 4
	// keysLast is how long workers use a key before they switch to another. Checking a key takes longer with every
	// operation whose result is unknown.
	keysLast = 3 * time.Second
)

// work sends requests until ctx ends. It completes the request that is in progress.
func (c *Client) work(ctx context.Context, id int) {
	for ctx.Err() == nil {
		begun := context.WithoutCancel(ctx)
		key := fmt.Sprintf("%s%d/%d", c.Prefix, c.History.now()/keysLast, rand.IntN(keysAtOnce))
		// Ignore errors here, because request adds them to the report.
		switch rand.IntN(4) {
		case 0, 1:
			_, _ = c.put(begun, id, key, c.Patience)
		case 2:
			_, _ = c.get(begun, id, key, c.Patience)
		default:
			_ = c.swap(begun, id, key)
		}
		pause(ctx, c.Think)
	}
}

func (c *Client) get(ctx context.Context, id int, key string, patience time.Duration) (Answer, error) {
	return c.request(ctx, patience, func() Op { return Op{Client: id, Kind: Get, Key: key} })
}

func (c *Client) put(ctx context.Context, id int, key string, patience time.Duration) (Answer, error) {
	return c.request(ctx, patience, func() Op { return Op{Client: id, Kind: Put, Key: key, Value: c.value(id)} })
}

// swap reads a value and replaces it, unless another client changes it first. If an attempt gets no response, the next
// attempt still expects the old value, and may find that the first attempt has replaced it.
func (c *Client) swap(ctx context.Context, id int, key string) error {
	now, err := c.get(ctx, id, key, c.Patience)
	if err != nil {
		return err
	}
	_, err = c.request(ctx, c.Patience, func() Op {
		return Op{Client: id, Kind: Swap, Key: key, Value: c.value(id), Expect: now.Value}
	})
	return err
}

// value returns a unique value, so that a read shows which write it sees.
func (c *Client) value(id int) string { return fmt.Sprintf("%d-%d", id, c.values.Add(1)) }

// request tries one member after the other until one responds. It records each attempt as a separate operation.
func (c *Client) request(ctx context.Context, patience time.Duration, next func() Op) (Answer, error) {
	begin := c.History.now()
	for {
		op := next()
		err := c.attempt(ctx, &op)
		took := c.History.now() - begin
		if err == nil || took > patience || ctx.Err() != nil {
			c.done(op.Kind, begin, took, err)
			return op.Answer, err
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// attempt sends the request to the next member and records the response.
func (c *Client) attempt(ctx context.Context, op *Op) (err error) {
	url, store := c.pool.next()
	asked, cancel := context.WithTimeoutCause(ctx, c.Attempt, errImpatient)
	defer cancel()
	op.Member, op.Call = url, c.History.now()
	switch op.Kind {
	case Put:
		op.Answer, err = store.Put(asked, op.Key, op.Value)
	case Get:
		op.Answer, err = store.Get(asked, op.Key)
	default:
		op.Answer, err = store.Swap(asked, op.Key, op.Expect, op.Value)
	}
	op.Return, op.Known = c.History.now(), err == nil
	if err != nil {
		c.pool.fails(url)
		err = fmt.Errorf("%s at %s: %w", op.Kind, url, err)
	}
	if err == nil || !unsent(err) {
		c.History.add(*op)
	}
	return err
}

func (c *Client) done(kind Kind, begin, took time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Requests++
	c.report.Longest = max(c.report.Longest, took)
	if err != nil {
		c.report.Failed = append(c.report.Failed, Failure{begin, took, kind, err})
	}
}
