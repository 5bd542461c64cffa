// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package rediscluster

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/shared/redistest"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
	"github.com/opcrew/opcrew/internal/stores/redis/ring/ringtest"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	// patience is the time limit for steps whose duration the test does not measure.
	patience = 2 * time.Minute
	// memory is the flag with which a server gets the memory limit of its container.
	memory = "--memory-limit=1073741824"
	// boot is how long the test waits after the start of a server. In the first 2 s, a primary reports the cluster as
	// down (CLUSTER_WRITABLE_DELAY).
	boot = 3 * time.Second
)

var (
	shop     = types.NamespacedName{Namespace: "shop", Name: "rec"}
	operator = redis.Credentials{User: redispod.System, Password: redistest.SystemPassword}
)

// cluster is a set of simulated pods, in which real Redis servers run.
type cluster struct {
	*testing.T
	store  redis.Store
	prober *redis.Prober // nil while no operator runs

	mu   sync.Mutex
	pods []*redistest.Pod
	why  ring.Why
}

func newCluster(t *testing.T, pods int) *cluster {
	t.Helper()
	store, err := redis.Dial(redis.Target{Credentials: operator})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := &cluster{T: t, store: store}
	for range pods {
		c.add()
	}
	time.Sleep(boot)
	return c
}

func (c *cluster) add() {
	c.Helper()
	pod := redistest.New(c)
	pod.Home.Start(memory)
	pod.Guest.Start(memory)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pods = append(c.pods, pod)
}

func (c *cluster) wanted() ring.Ring {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := ring.Ring{Nodes: len(c.pods)}
	for _, pod := range c.pods {
		out.Pods = append(out.Pods, ring.Pod{Home: pod.Home.Address(), Guest: pod.Guest.Address()})
	}
	return out
}

// addresses returns the addresses of the first servers of all pods, followed by those of the second servers. redis-cli
// makes the first addresses primaries.
func (c *cluster) addresses() []string {
	var homes, guests []string
	for _, pod := range c.pods {
		homes, guests = append(homes, pod.Home.Address()), append(guests, pod.Guest.Address())
	}
	return append(homes, guests...)
}

// operate runs the part of the operator that manages Redis servers, until the test calls end. The operator takes only
// the steps that permit allows.
func (c *cluster) operate(permit func(ring.Step) bool) (end func()) {
	ctx, cancel := context.WithCancel(c.Context())
	c.prober = redis.NewProber(redis.Dial, clock.RealClock{}, nil)
	act := func(ctx context.Context, _ redis.View, step ring.Step, why ring.Why) {
		c.mu.Lock()
		c.why = why
		c.mu.Unlock()
		if step != nil && permit(step) {
			err := c.prober.Take(ctx, shop, step)
			c.Logf("%s %s: %v", time.Now().Format("05.000"), why.Doing, err)
		}
	}
	var running sync.WaitGroup
	running.Go(func() {
		ringtest.Operator{Prober: c.prober, Key: shop, Credentials: operator, Wanted: c.wanted, Act: act}.Run(ctx)
	})
	end = sync.OnceFunc(func() { cancel(); running.Wait() })
	c.Cleanup(end)
	return end
}

func anyStep(ring.Step) bool { return true }

// settled waits until the operator has no more steps to take.
func (c *cluster) settled() {
	c.Helper()
	began := time.Now()
	c.await("the operator has nothing left to do", func(view redis.View, why ring.Why) bool {
		return why.Done() && view.At.After(began)
	})
}

// await waits until check returns true for the latest view of the servers and the operator's decision.
func (c *cluster) await(expectation string, check func(redis.View, ring.Why) bool) {
	c.Helper()
	eventually.True(c, patience, expectation, func() error {
		view, ok := c.prober.View(shop)
		step, why := ring.Next(view, c.wanted())
		if !ok || view.Stale || !check(view, why) {
			return unexpected{step, why}
		}
		return nil
	})
}
