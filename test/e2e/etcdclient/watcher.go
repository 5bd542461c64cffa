// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"context"
	"time"
)

// silence is for how long a watch may not be told what was acknowledged before its client
// turns to another member: a connection to a node that is gone looks like a quiet one.
const silence = 3 * time.Second

// watch follows all writes until ctx ends, with another member whenever one cannot go on.
func (c *Client) watch(ctx context.Context, w *Watch) {
	for ctx.Err() == nil {
		url, store := c.pool.next()
		at, cancel := context.WithCancel(ctx)
		c.others.Go(func() { c.leaveSilence(at, cancel, w) })
		err := store.Watch(at, c.Prefix, w.seen()+1, func(events ...Event) { c.History.heard(w, events...) })
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil && compacted(err) {
			c.History.ended(w, err.Error())
			return
		}
		c.pool.fails(url)
		pause(ctx, 100*time.Millisecond)
	}
}

// leaveSilence ends a watch with a member that tells nothing of what there is to tell.
func (c *Client) leaveSilence(ctx context.Context, leave context.CancelFunc, w *Watch) {
	heard, since := c.History.told(w), time.Now()
	for ctx.Err() == nil {
		pause(ctx, silence/10)
		if now := c.History.told(w); now != heard || !c.History.late(w) {
			heard, since = now, time.Now()
		}
		if time.Since(since) > silence {
			leave()
		}
	}
}
