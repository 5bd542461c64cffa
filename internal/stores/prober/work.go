// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// ErrBusy is returned if other work is already running on the cluster.
var ErrBusy = errors.New("another operation is already running on the cluster")

// Work is a long operation on a cluster, such as a defragmentation. It runs in the background and may take minutes.
// Only one Work at a time runs on each cluster.
type Work[S Store] struct {
	// Name identifies the work in the view while it is running.
	Name string
	// Limit is how long the work may take.
	Limit time.Duration
	// Do carries out the work, and must record the result, because the prober does not. If Do panics, the work ends
	// without a result.
	Do func(context.Context, S)
}

// Begin starts work and returns at once. The view of the store names the work until the work has ended; then the view
// is stale until the next read. The context of the work ends when the prober ends or forgets the cluster.
func (p *Prober[T, V, S]) Begin(key types.NamespacedName, work Work[S]) error {
	c, ok := p.Cluster(key)
	if !ok {
		return ErrNotWatched
	}
	claim := func() error {
		if !c.claim(work.Name) {
			return ErrBusy
		}
		return nil
	}
	return c.Background(claim, func(ctx context.Context) { c.carryOut(ctx, work) })
}

// Background runs a function in a goroutine if claim returns no error. When the prober ends, it ends the function's
// context and waits for the function.
func (c *Cluster[T, V, S]) Background(claim func() error, run func(context.Context)) error {
	return c.background(claim, run)
}

// claim registers work and returns true. It returns false if other work is running.
func (c *Cluster[T, V, S]) claim(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work != "" {
		return false
	}
	c.work = name
	c.mark(c.stale)
	return true
}

func (c *Cluster[T, V, S]) carryOut(ctx context.Context, work Work[S]) {
	ctx, cancel := context.WithTimeout(ctx, work.Limit)
	defer cancel()
	ctx, stop := c.whileWatched(ctx)
	defer stop()
	defer c.Wake()
	defer c.endWork()
	store, done, err := c.Use()
	if err != nil {
		return
	}
	defer done()
	_ = Contained(func() error { // an error does not matter: the next read shows what was done
		work.Do(ctx, store)
		return nil
	})
}

// endWork records that the work has ended, and that the latest view of the store is stale.
func (c *Cluster[T, V, S]) endWork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work = ""
	c.steps += 2
	c.mark(true)
}
