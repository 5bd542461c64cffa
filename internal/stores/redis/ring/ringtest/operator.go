// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ringtest manages a real Redis cluster without Kubernetes, in the same way as the controller. Tests and
// benchmarks use it, and start the servers themselves.
package ringtest

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Operator reads one cluster and decides what to do next, in a loop.
type Operator struct {
	Prober      *redis.Prober
	Key         types.NamespacedName
	Credentials redis.Credentials
	// Wanted returns the currently desired cluster.
	Wanted func() ring.Ring
	// Act executes a step. The step is nil if there is none.
	Act func(ctx context.Context, view redis.View, step ring.Step, why ring.Why)
}

// Run reads the servers and decides until ctx ends. It returns when the prober has ended too.
func (o Operator) Run(ctx context.Context) {
	var looking sync.WaitGroup
	looking.Go(func() { _ = o.Prober.Start(ctx) }) // the prober ends with the context, and never fails
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
	case <-time.After(200 * time.Millisecond): // the desired cluster may have changed
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
