// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ringtest is what a kind does with a ring, without a Kubernetes around it, for
// tests and benchmarks on real servers. How those are started is not here.
package ringtest

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Operator looks at one cluster and decides what is to be done, again and again.
type Operator struct {
	Prober      *redis.Prober
	Key         types.NamespacedName
	Credentials redis.Credentials
	// Wanted is the ring at the moment.
	Wanted func() ring.Ring
	// Act takes a step, which is nil where there is none to take.
	Act func(ctx context.Context, view redis.View, step ring.Step, why ring.Why)
}

// Run has the prober look and decides until the context ends. It returns when nothing of
// both runs any more.
func (o Operator) Run(ctx context.Context) {
	var looking sync.WaitGroup
	looking.Go(func() { _ = o.Prober.Start(ctx) }) // ends with the context, and never fails
	for ctx.Err() == nil {
		o.reconcile(ctx)
	}
	looking.Wait()
}

func (o Operator) reconcile(ctx context.Context) {
	wanted := o.Wanted()
	o.Prober.Watch(o.Key, target(wanted, o.Credentials))
	if view, ok := o.Prober.View(o.Key); ok {
		step, why := ring.Next(view, wanted)
		o.Act(ctx, view, step, why)
	}
	select {
	case <-o.Prober.Events():
	case <-time.After(200 * time.Millisecond): // what is wanted may have changed
	case <-ctx.Done():
	}
}

func target(wanted ring.Ring, by redis.Credentials) redis.Target {
	out := redis.Target{Credentials: by}
	for i, pod := range wanted.Pods {
		if pod.Home != "" {
			out.Nodes = append(out.Nodes, redis.Node{Address: pod.Home, Pod: i, Place: redis.Home})
		}
		if pod.Guest != "" {
			out.Nodes = append(out.Nodes, redis.Node{Address: pod.Guest, Pod: i, Place: redis.Guest})
		}
	}
	return out
}
