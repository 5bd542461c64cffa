// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
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

// rig is a cluster, and what a kind does with a ring.
type rig struct {
	*testing.T
	world  *redissim.World
	prober *redis.Prober
	nodes  int
	server redis.Version
	hosts  []string // by pod
	gone   map[int]bool
	made   int
	why    ring.Why
	steps  []string
}

// rigged runs a test in a bubble of its own time.
func rigged(t *testing.T, pods int, test func(r *rig)) {
	riggedOf(t, redis.Version{Number: "7.0.15"}, pods, test)
}

// riggedOf is that with servers of a version.
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

func TestWhomAReplicaCopiedThatDoesNotAnswerStaysKnown(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		guest := r.hosts[1] + ":6380"
		r.world.Stop(r.pod(1))
		var status redis.NodeStatus
		r.until(time.Minute, "it to be missed", func() bool {
			view, _ := r.prober.View(key)
			status = view.Nodes[guest]
			return status.Err != nil
		})
		if status.Source != r.hosts[0]+":6379" || status.PrimaryID == "" {
			t.Errorf("expected it to be taken to copy the home of pod 0, got %q for %q", status.Source, status.PrimaryID)
		}
		r.start(1)
		r.settled(time.Minute)
	})
}

func (r *rig) pod(i int) string { return fmt.Sprintf("rec-%d", i) }

// start runs a pod at an address that no one had.
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

// reconcile takes one step, if there is one.
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

// until reconciles until something holds.
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

func TestServersFormAClusterAndAreAtRestThen(t *testing.T) {
	for _, pods := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprint(pods), func(t *testing.T) {
			rigged(t, pods, func(r *rig) {
				r.write(500)
				changes := r.world.Changes()
				for range 100 {
					r.reconcile()
				}
				r.settled(0)
				if r.world.Changes() != changes {
					t.Errorf("expected no command at rest, got %d", r.world.Changes()-changes)
				}
			})
		})
	}
}

func TestAClusterIsScaledAndKeepsWhatWasWritten(t *testing.T) {
	for name, version := range map[string]redis.Version{"by keys": {Number: "7.0.15"}, "by jobs": {Number: "9.1.2", Valkey: true}, "by jobs of Redis": {Number: "8.4.0"}} {
		t.Run(name, func(t *testing.T) {
			riggedOf(t, version, 3, func(r *rig) { scaled(r, version.HasJobs()) })
		})
	}
}

// scaled grows and shrinks it while clients write.
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

func TestEmptiedPodsLeaveOnceNoClientNeedsThemAnyMore(t *testing.T) {
	for name, test := range map[string]struct {
		asks        time.Duration // for how long after the move a client that has an old map uses it
		least, most time.Duration // until the pods have left
	}{
		"no client has an old map":        {0, 2 * time.Second, 6 * time.Second},
		"a client has it for a while":     {5 * time.Second, 6 * time.Second, 11 * time.Second},
		"a client never asks for another": {time.Hour, 15 * time.Second, 19 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			rigged(t, 5, func(r *rig) {
				r.write(1000)
				r.scale(3)
				if took := r.leave(test.asks); took < test.least || took > test.most {
					r.Errorf("expected pods to leave %s to %s after their slots, got %s", test.least, test.most, took)
				}
				if lost := r.world.Lost(cluster); len(lost) > 0 {
					r.Errorf("expected all that was written to be there, %d keys are not", len(lost))
				}
			})
		})
	}
}

// leave waits until pods have left, and says how long after the last of their slots that was. Until some time after that,
// a client asks them every second.
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

// An operator that dies leaves the job that goes on: the next one waits for it, and moves the rest.
func TestAJobThatNobodyWaitsForIsWaitedFor(t *testing.T) {
	riggedOf(t, redis.Version{Number: "9.1.2", Valkey: true}, 3, func(r *rig) {
		r.write(1000)
		r.world.JobLooks = 40
		r.scale(4)
		r.until(time.Minute, "a job to go on", func() bool {
			view, _ := r.prober.View(key)
			for _, status := range view.Nodes {
				if len(status.Jobs) > 0 {
					return true
				}
			}
			return false
		})
		if err := r.prober.Take(r.Context(), key, redis.StopMove{}); err != nil {
			r.Fatal(err)
		}
		r.until(time.Minute, "the job to be waited for", func() bool {
			return slices.ContainsFunc(r.why.Refusals, func(refusal ring.Refusal) bool {
				return strings.Contains(refusal.Message, "are moved by a job of")
			})
		})
		r.settled(5 * time.Minute)
	})
}

func TestAHomeThatWasAwayLeadsAgain(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		r.write(300)
		r.stop(1)
		r.until(time.Minute, "its guest to be elected", func() bool { return r.world.Write(cluster, 300, 10) == nil })
		r.start(1)
		r.settled(time.Minute)
	})
}

func TestALostVolumeIsFilledAgain(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		r.write(300)
		r.stop(2)
		r.until(time.Minute, "its guest to be elected", func() bool { return r.world.Write(cluster, 300, 10) == nil })
		r.world.Wipe("rec-2/home")
		r.world.Wipe("rec-2/guest")
		r.start(2)
		r.settled(time.Minute)
	})
}

// A replica that was restarted does not ask for votes by itself: it is asked to.
func TestAllComeBackAndOneHasLostItsVolume(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		r.write(300)
		for i := range 3 {
			r.stop(i)
		}
		r.world.Wipe("rec-0/home")
		for i := range 3 {
			r.start(i)
		}
		r.settled(time.Minute)
		told := func(step string) bool {
			return strings.HasSuffix(step, "be elected in the place of a lost primary: <nil>")
		}
		if !slices.ContainsFunc(r.steps, told) {
			t.Errorf("expected a replica to be told to ask for votes, the steps were:\n%s", strings.Join(r.steps, "\n"))
		}
	})
}

func TestAllComeBackAtOtherAddresses(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		r.write(300)
		for i := range 3 {
			r.stop(i)
		}
		for i := range 3 {
			r.start(i)
		}
		r.settled(time.Minute)
	})
}

func TestAPodThatIsGoneForGoodFromAClusterOfTwoIsTakenOver(t *testing.T) {
	rigged(t, 2, func(r *rig) {
		r.write(300)
		r.stop(0)
		r.gone[0] = true
		r.until(time.Minute, "the other to take over", func() bool { return r.world.Write(cluster, 300, 10) == nil })
		r.world.Wipe("rec-0/home")
		r.world.Wipe("rec-0/guest")
		r.gone[0] = false
		r.start(0)
		r.settled(time.Minute)
	})
}

func TestAShrinkForWhichThereIsNoMemoryIsRefused(t *testing.T) {
	rigged(t, 4, func(r *rig) {
		if err := r.world.Write(cluster, 290, 10<<20); err != nil { // of 1 GiB for each of four
			t.Fatal(err)
		}
		for range 20 { // the last look may be two seconds old
			r.reconcile()
		}
		r.scale(3)
		for range 100 {
			r.reconcile()
		}
		refused := slices.ContainsFunc(r.why.Refusals, func(refusal ring.Refusal) bool { return refusal.Guard == ring.Memory })
		if !refused || r.world.Opened(cluster) {
			t.Errorf("expected the shrink to be refused for want of memory, got %v after %s", r.why.Refusals, strings.Join(r.steps, "\n"))
		}
	})
}
