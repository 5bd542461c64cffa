// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

const (
	cluster = "shop/rec"
	secret  = "s3cret"
)

var key = types.NamespacedName{Namespace: "shop", Name: "rec"}

// rig is a simulated cluster and the controller's loop that manages its servers.
type rig struct {
	*testing.T
	world  *redissim.World
	prober *redis.Prober
	nodes  int
	server redis.Version
	hosts  []string // host of each pod
	gone   map[int]bool
	made   int
	why    ring.Why
	steps  []string
}

// rigged runs a test in a synctest bubble, in which time passes only when all goroutines wait.
func rigged(t *testing.T, pods int, test func(r *rig)) {
	riggedOf(t, redis.Version{Number: "7.0.15"}, pods, test)
}

// riggedOf is like rigged, with servers of the given version.
func riggedOf(t *testing.T, version redis.Version, pods int, test func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, server: version, world: &redissim.World{SyncLooks: 2}, gone: map[int]bool{}}
		r.prober = redis.NewProber(r.world.Dial, clock.RealClock{}, nil)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- r.prober.Start(ctx) }()
		synctest.Wait()
		r.scale(pods)
		r.settled(time.Minute)
		test(r)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if bad := r.world.Violations(cluster); len(bad) > 0 {
			t.Errorf("expected none of what must never be, got %s", strings.Join(bad, "\n"))
		}
	})
}

func (r *rig) scale(n int) {
	for i := len(r.hosts); i < n; i++ {
		r.hosts = append(r.hosts, "")
		r.start(i)
	}
	r.nodes = n
}

func (r *rig) pod(i int) string { return fmt.Sprintf("rec-%d", i) }

// start starts a pod at a new address.
func (r *rig) start(i int) {
	r.made++
	r.hosts[i] = fmt.Sprintf("10.0.0.%d", r.made)
	sum := sha256.Sum256([]byte(secret))
	for place, port := range map[redis.Place]string{redis.Home: "6379", redis.Guest: "6380"} {
		r.world.Run(redissim.Process{
			Cluster: cluster, Pod: r.pod(i), Place: place, Address: r.hosts[i] + ":" + port, Volume: fmt.Sprintf("%s/%s", r.pod(i), place),
			Version: r.server, MaxMemory: 1 << 30,
			Users: map[string][]string{"opcrew": {hex.EncodeToString(sum[:])}},
		})
	}
}

func (r *rig) stop(i int) {
	r.world.Stop(r.pod(i))
	r.hosts[i] = ""
}

func (r *rig) wanted() ring.Ring {
	out := ring.Ring{Nodes: r.nodes}
	for i, host := range r.hosts {
		pod := ring.Pod{Gone: r.gone[i]}
		if host != "" {
			pod.Home, pod.Guest = host+":6379", host+":6380"
		}
		out.Pods = append(out.Pods, pod)
	}
	return out
}

// reconcile executes the next step, if there is one.
func (r *rig) reconcile() {
	target := redis.Target{Credentials: redis.Credentials{User: "opcrew", Password: secret}}
	wanted := r.wanted()
	for i, pod := range wanted.Pods {
		if pod.Home != "" {
			target.Nodes = append(target.Nodes, redis.Node{Address: pod.Home, Pod: i, Place: redis.Home}, redis.Node{Address: pod.Guest, Pod: i, Place: redis.Guest})
		}
	}
	r.prober.Watch(key, target)
	if view, ok := r.prober.View(key); ok {
		var step ring.Step
		if step, r.why = ring.Next(view, wanted); step != nil {
			r.steps = append(r.steps, fmt.Sprintf("%s: %v", step, r.prober.Take(r.Context(), key, step)))
		}
	}
	select {
	case <-r.prober.Events():
	case <-time.After(200 * time.Millisecond):
	}
}

// until reconciles until the condition holds, or fails the test after the given time.
func (r *rig) until(within time.Duration, what string, holds func() bool) {
	r.Helper()
	for begin := time.Now(); !holds(); r.reconcile() {
		if time.Since(begin) > within {
			r.Fatalf("expected %s within %s; refused: %v; steps:\n%s", what, within, r.why.Refusals, strings.Join(r.steps, "\n"))
		}
	}
}

func (r *rig) settled(within time.Duration) {
	r.Helper()
	var err error
	defer func() {
		if r.Failed() {
			r.Logf("the ring is not whole: %v", err)
		}
	}()
	r.until(within, "the ring to be whole", func() bool {
		view, ok := r.prober.View(key)
		err = r.world.Whole(cluster, len(r.hosts))
		return ok && !view.Stale && r.why.Done() && err == nil
	})
}

func (r *rig) write(keys int) {
	r.Helper()
	if err := r.world.Write(cluster, keys, 100); err != nil {
		r.Fatalf("expected a client to be served: %v", err)
	}
}

// scaled adds and removes pods while clients write.
func scaled(r *rig, byJobs bool) {
	const library = "shop"
	r.write(1000)
	r.world.Load(cluster, library)
	for _, n := range []int{5, 3, 4} {
		r.scale(n)
		r.until(5*time.Minute, "those that leave to have left", func() bool {
			view, _ := r.prober.View(key)
			for i := n; i < len(r.hosts); i++ {
				if !ring.Left(view, r.wanted(), i) {
					return false
				}
			}
			return true
		})
		for i := n; i < len(r.hosts); i++ {
			r.stop(i)
		}
		r.hosts = r.hosts[:n]
		r.settled(5 * time.Minute)
		r.write(100)
		if at := r.world.Without(cluster, library); at != "" {
			r.Errorf("expected functions to be on all of %d pods, %s has none", n, at)
		}
	}
	if r.world.Jobs(cluster) > 0 != byJobs {
		r.Errorf("expected slots to be moved by jobs: %t, there were %d", byJobs, r.world.Jobs(cluster))
	}
}

// leave waits until the surplus pods have left, and returns how long that took after the end of the slot move. For the
// duration asks after the move, a client with an old slot map sends a request every second.
func (r *rig) leave(asks time.Duration) time.Duration {
	r.Helper()
	var ended, asked time.Time
	r.until(time.Minute, "pods that leave to have left", func() bool {
		view, _ := r.prober.View(key)
		if view.Move == nil || !view.Move.Ended || view.Move.Goal != r.nodes {
			return false
		}
		ended = view.Move.EndedAt
		if time.Since(ended) <= asks && time.Since(asked) >= time.Second {
			asked = time.Now()
			r.world.Ask(r.hosts[4]+":6379", 0)
		}
		return ring.Left(view, r.wanted(), 3) && ring.Left(view, r.wanted(), 4)
	})
	return time.Since(ended)
}
