// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

const (
	lookEvery = 50 * time.Millisecond
	podsEvery = time.Second
)

// claims maps the address of each server to the ranges of slots that the server, by its own report, serves as primary.
type claims map[string][]clusternodes.Range

// redisObserver continuously queries all servers, in parallel, for the slots that they serve as primary. It shares no
// code with the operator.
type redisObserver struct {
	*redisTest
	password string
	end      context.CancelFunc
	ended    sync.WaitGroup

	servers map[string]*goredis.Client
	looks   int
	twice   []string // slots that two servers claimed in two consecutive queries
}

// observe starts a redisObserver, which runs until stop is called or the test ends.
func (r *redisTest) observe(t *testing.T) *redisObserver {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	o := &redisObserver{redisTest: r, password: r.password(t), end: cancel, servers: map[string]*goredis.Client{}}
	o.ended.Go(func() { o.run(ctx) })
	t.Cleanup(o.stop)
	return o
}

func (o *redisObserver) stop() {
	o.end()
	o.ended.Wait()
	for _, c := range o.servers {
		_ = c.Close()
	}
	clear(o.servers)
}

func (o *redisObserver) run(ctx context.Context) {
	var last claims
	var asked time.Time
	for ctx.Err() == nil {
		if time.Since(asked) > podsEvery {
			o.find(ctx)
			asked = time.Now()
		}
		now := o.look(ctx)
		o.compare(last, now)
		last = now
		o.looks++
		time.Sleep(lookEvery)
	}
}

// find updates the list of servers from the pods that exist now.
func (o *redisObserver) find(ctx context.Context) {
	list := &corev1.PodList{}
	if o.List(ctx, list, client.InNamespace(o.ns), client.MatchingLabels{redisv1alpha1.ClusterLabel: redisName}) != nil {
		return
	}
	for _, pod := range list.Items {
		for _, port := range []int32{redisv1alpha1.HomePort, redisv1alpha1.GuestPort} {
			address := net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(port))
			if pod.Status.PodIP == "" || o.servers[address] != nil {
				continue
			}
			o.servers[address] = goredis.NewClient(&goredis.Options{
				Addr: address, Username: "default", Password: o.password, MaxRetries: -1,
				DialTimeout: 200 * time.Millisecond, DialerRetries: 1, ReadTimeout: 200 * time.Millisecond, WriteTimeout: 200 * time.Millisecond,
			})
		}
	}
}

func (o *redisObserver) look(ctx context.Context) claims {
	var mu sync.Mutex
	var asking sync.WaitGroup
	out := claims{}
	for address, server := range o.servers {
		asking.Go(func() {
			slots, leads := ask(ctx, server)
			if leads {
				mu.Lock()
				defer mu.Unlock()
				out[address] = slots
			}
		})
	}
	asking.Wait()
	return out
}

// ask returns the slots that a server serves as primary. A server that considers the cluster down serves no slots,
// whatever it lists. For example, a server serves none for two seconds after its start (CLUSTER_WRITABLE_DELAY).
func ask(ctx context.Context, server *goredis.Client) (slots []clusternodes.Range, leads bool) {
	var info, table *goredis.StringCmd
	if _, err := server.Pipelined(ctx, func(p goredis.Pipeliner) error {
		info, table = p.ClusterInfo(ctx), p.ClusterNodes(ctx)
		return nil
	}); err != nil || !strings.Contains(info.Val(), "cluster_state:ok") {
		return nil, false
	}
	nodes, err := clusternodes.Parse(table.Val())
	self, found := clusternodes.Myself(nodes)
	return self.Slots, err == nil && found && self.Is("master")
}

// compare records the slots that two servers both claimed in two consecutive queries. So both claimed these slots
// during the whole time in between.
func (o *redisObserver) compare(last, now claims) {
	var owner [clusternodes.LastSlot + 1]string
	for address := range now {
		for slot := range inBoth(last[address], now[address]) {
			if other := owner[slot]; other != "" {
				o.twice = append(o.twice, fmt.Sprintf("%s slot %d: %s and %s", time.Now().Format("05.000"), slot, other, address))
				break
			}
			owner[slot] = address
		}
	}
}

// inBoth returns the slots that both lists contain.
func inBoth(a, b []clusternodes.Range) map[int]bool {
	in, out := map[int]bool{}, map[int]bool{}
	for _, r := range a {
		for slot := r.First; slot <= r.Last; slot++ {
			in[slot] = true
		}
	}
	for _, r := range b {
		for slot := r.First; slot <= r.Last; slot++ {
			if in[slot] {
				out[slot] = true
			}
		}
	}
	return out
}

// wantOneLeader checks that no slot ever had two primaries, and that every slot has one at the end.
func (o *redisObserver) wantOneLeader(t *testing.T) {
	t.Helper()
	covered := map[int]int{}
	time.Sleep(2 * podsEvery) // enough time to find the latest pods
	o.end()
	o.ended.Wait()
	for _, slots := range o.look(t.Context()) {
		for slot := range inBoth(slots, slots) {
			covered[slot]++
		}
	}
	for slot := range clusternodes.LastSlot + 1 {
		if covered[slot] != 1 {
			t.Fatalf("expected each slot to be served once at rest, slot %d is served %d times", slot, covered[slot])
		}
	}
	t.Logf("the observer queried the servers %d times", o.looks)
	if len(o.twice) > 0 {
		t.Errorf("expected one leader a slot at any time; in %d looks there were two %d times, such as %s", o.looks, len(o.twice), o.twice[0])
	}
	o.stop()
}
