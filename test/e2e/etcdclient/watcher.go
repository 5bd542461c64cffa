// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"context"
	"time"
)

// silence is how long a watch may miss acknowledged writes before the client connects to another member. The client
// cannot wait for an error, because a connection to a lost node looks like an idle connection.
const silence = 3 * time.Second

// watch receives all writes until ctx ends. If a member cannot continue the watch, the client connects to another
// member.
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

// leaveSilence ends a watch if its member does not deliver acknowledged writes for some time.
func (c *Client) leaveSilence(ctx context.Context, leave context.CancelFunc, w *Watch) {
	heard, since := c.History.received(w), time.Now()
	for ctx.Err() == nil {
		pause(ctx, silence/10)
		if now := c.History.received(w); now != heard || !c.History.late(w) {
			heard, since = now, time.Now()
		}
		if time.Since(since) > silence {
			leave()
		}
	}
}
