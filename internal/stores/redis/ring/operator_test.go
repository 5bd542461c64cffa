// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
	"github.com/opcrew/opcrew/internal/stores/redis/ring/ringtest"
	"github.com/opcrew/opcrew/test/testenv/loopback"
)

var shop = types.NamespacedName{Namespace: "shop", Name: "rec"}

// operator manages a real Redis cluster like the controller: it reads the servers, decides, and executes one step after
// the other.
type operator struct {
	t      *testing.T
	prober *redis.Prober
	end    context.CancelFunc
	ended  sync.WaitGroup

	mu    sync.Mutex
	nodes int
	pods  []*pod
	gone  map[int]bool
	// forsaken holds the slots whose loss of data the user accepts.
	forsaken redis.Slots
	rate     int64
	steps    []string
	why      ring.Why
}

type pod struct{ home, guest *server }

func (p *pod) servers() []*server { return []*server{p.home, p.guest} }

// operate starts a cluster of n pods and an operator that manages it.
func operate(t *testing.T, n int) *operator {
	t.Helper()
	t.Parallel() // tests can run in parallel, because they mostly wait for elections
	o := &operator{t: t, gone: map[int]bool{}}
	o.scale(n)
	o.run()
	t.Cleanup(func() { o.crash() })
	return o
}

// run starts the operator.
func (o *operator) run() {
	ctx, end := context.WithCancel(context.Background())
	o.end = end
	o.prober = redis.NewProber(redis.Dial, clock.RealClock{}, nil)
	o.ended.Go(func() {
		ringtest.Operator{
			Prober: o.prober, Key: shop, Credentials: redis.Credentials{User: "opcrew", Password: secret},
			Wanted: o.wanted, Act: o.act,
		}.Run(ctx)
	})
}

// crash stops the operator, even in the middle of a step.
func (o *operator) crash() {
	o.end()
	o.ended.Wait()
}

func (o *operator) act(ctx context.Context, view redis.View, step ring.Step, why ring.Why) {
	o.note(why)
	if step == nil {
		return
	}
	if view.Move != nil && view.Move.Err != nil {
		o.t.Logf("%s the last move ended: %v", time.Now().Format("05.000"), view.Move.Err)
	}
	o.take(ctx, step, why)
}

func (o *operator) take(ctx context.Context, step ring.Step, why ring.Why) {
	err := o.prober.Take(ctx, shop, step)
	o.t.Logf("%s %s: %v", time.Now().Format("05.000"), why.Doing, err)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.steps = append(o.steps, step.String())
}

func (o *operator) note(why ring.Why) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.why = why
}

// wanted returns the desired cluster and what is known about its pods.
func (o *operator) wanted() ring.Ring {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := ring.Ring{Nodes: o.nodes, Rate: o.rate, GivenUp: o.forsaken}
	for i, p := range o.pods {
		pod := ring.Pod{Gone: o.gone[i]}
		if !pod.Gone {
			pod.Home, pod.Guest = p.home.address, p.guest.address
		}
		out.Pods = append(out.Pods, pod)
	}
	return out
}

// scale sets the desired number of pods, and starts missing pods.
func (o *operator) scale(n int) {
	o.t.Helper()
	for i := len(o.pods); i < n; i++ {
		p := &pod{home: newServer(o.t, redis.Home, i), guest: newServer(o.t, redis.Guest, i)}
		host := loopback.Host()
		for _, s := range p.servers() {
			s.start(o.t, host)
		}
		o.mu.Lock()
		o.pods = append(o.pods, p)
		o.mu.Unlock()
	}
	o.mu.Lock()
	o.nodes = n
	o.mu.Unlock()
}

func newServer(t *testing.T, place redis.Place, pod int) *server {
	t.Helper()
	dir := filepath.Join(t.TempDir(), string(place))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &server{place: place, pod: pod, dir: dir}
}

// shrink deletes the surplus pods that have left the cluster.
func (o *operator) shrink() {
	o.t.Helper()
	view, _ := o.prober.View(shop)
	wanted := o.wanted()
	for i := wanted.Nodes; i < len(wanted.Pods); i++ {
		if !ring.Left(view, wanted, i) {
			o.t.Fatalf("pod %d was expected to have left", i)
		}
	}
	for _, p := range o.pods[o.nodes:] {
		p.home.stop()
		p.guest.stop()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pods = o.pods[:o.nodes]
}

// restart restarts servers at the given address.
func (o *operator) restart(host string, servers ...*server) {
	o.t.Helper()
	for _, s := range servers {
		s.stop()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range servers {
		s.start(o.t, host)
	}
}

// settled waits until the cluster is as desired and every shard has all of its data.
func (o *operator) settled(within time.Duration) {
	o.t.Helper()
	began := time.Now()
	o.await(within, "the ring to be complete", func(view redis.View, wanted ring.Ring, why ring.Why) bool {
		if !why.Done() || view.Stale || view.At.Before(began) {
			return false
		}
		for i, shard := range ring.Shards(view, wanted) {
			if shard.Leader != wanted.Home(i) || !shard.Elsewhere {
				return false
			}
		}
		return len(ring.Unserved(view, wanted)) == 0
	})
}

func (o *operator) await(within time.Duration, what string, is func(redis.View, ring.Ring, ring.Why) bool) {
	o.t.Helper()
	began := time.Now()
	for time.Since(began) < within {
		if view, ok := o.prober.View(shop); ok {
			wanted := o.wanted()
			if _, why := ring.Next(view, wanted); is(view, wanted, why) {
				o.t.Logf("%s after %s", what, time.Since(began).Round(time.Millisecond))
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.t.Fatalf("expected %s within %s; refused: %v; steps: %s", what, within, o.why.Refusals, strings.Join(o.steps, "; "))
}
