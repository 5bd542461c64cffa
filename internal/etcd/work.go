// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// ErrBusy tells that work is under way on a cluster.
var ErrBusy = errors.New("something is being done to the cluster already")

// Work is something that is done to a cluster and may take minutes, such as a defragmentation. It runs
// beside the looks, one at a time.
type Work struct {
	// Name is what View.Work says meanwhile.
	Name string
	// Limit is how long it may take.
	Limit time.Duration
	// Do does it. Whoever begins it is told by nobody but itself what came of it.
	Do func(context.Context, Store)
}

// Begin has work done to a cluster, and returns at once. The View says so until it has ended, and is
// Stale then until the next look. It ends with the Prober, or when the cluster is forgotten: what was
// asked of a member by then, that goes on with.
func (p *Prober) Begin(key types.NamespacedName, work Work) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.clusters[key]
	if !ok || p.ctx == nil || p.ctx.Err() != nil {
		return ErrNotWatched
	}
	if !c.begins(work.Name) {
		return ErrBusy
	}
	ctx := p.ctx
	p.running.Go(func() { c.work(ctx, work) })
	return nil
}

// begins notes what is under way, unless something is.
func (c *cluster) begins(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.doing != "" {
		return false
	}
	c.doing = name
	c.show()
	return true
}

func (c *cluster) work(ctx context.Context, work Work) {
	ctx, cancel := context.WithTimeout(ctx, work.Limit)
	defer cancel()
	c.running.Go(func() {
		select {
		case <-c.forgotten:
			cancel()
		case <-ctx.Done():
		}
	})
	defer c.wake()
	defer c.rests()
	store, done, err := c.use()
	if err != nil {
		return
	}
	defer done()
	work.Do(ctx, store)
}

// rests notes that nothing is under way any more, and that what was seen before is old.
func (c *cluster) rests() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doing = ""
	c.steps += 2
	c.show()
}

// show has the View say what is under way, before the next look. Its lock is held.
func (c *cluster) show() {
	if c.view != nil {
		view := *c.view
		view.Work, view.Stale = c.doing, view.Stale || c.doing == ""
		c.view = &view
	}
}
