// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostiletest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/internal/stores/hostiletest"
	"github.com/opcrew/opcrew/internal/stores/prober"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
)

const (
	// perSort is how many clusters of each kind of hostile server exist at the same time.
	perSort = 50
	// period is how long reads of the healthy cluster are counted.
	period = 2 * time.Second
	// interval is the time between two reads of the healthy cluster. eager is the time between two reads of a hostile
	// cluster.
	interval, eager = 50 * time.Millisecond, 250 * time.Millisecond
	// mostHeap is the maximum heap of this process. The operator's container has 512 MiB of memory
	// (config/manager/deployment.yaml).
	mostHeap = 160 << 20
	// perCluster is the maximum number of goroutines for each hostile cluster.
	perCluster = 24
	// own is the name of the healthy cluster.
	own = "own"
)

func TestMain(m *testing.M) { hostiletest.Main(m) }

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

// attack runs a prober for a healthy cluster, and adds hostile clusters for a while. The healthy cluster must be read
// as often as before.
func attack[T, V any, S prober.Store](t *testing.T, p *prober.Prober[T, V, S], well T, looks *atomic.Int64, hostile map[string]T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	go func() {
		for range p.Events() {
		}
	}()
	p.Watch(named(own), well)
	before, rest := count(looks), hostiletest.Kept()
	for _, sort := range slices.Sorted(maps.Keys(hostile)) {
		t.Run(sort, func(t *testing.T) {
			for i := range perSort {
				p.Watch(named(fmt.Sprintf("%s-%d", sort, i)), hostile[sort])
			}
			during := count(looks)
			for i := range perSort {
				p.Forget(named(fmt.Sprintf("%s-%d", sort, i)))
			}
			t.Logf("%d looks, %d MiB, %d goroutines", during.looks, during.Heap>>20, during.Goroutines)
			during.judge(t, before, rest.Goroutines+perCluster*perSort)
		})
	}
	count(looks) // only waits for one period, so that connections can end
	after, left := count(looks), hostiletest.Kept()
	after.judge(t, before, rest.Goroutines+perSort)
	if left.Heap > rest.Heap+32<<20 {
		t.Errorf("expected the memory to be free again, got %d MiB where %d were", left.Heap>>20, rest.Heap>>20)
	}
}

// counted holds what was measured during one period.
type counted struct {
	hostiletest.Cost
	looks int64
}

func count(looks *atomic.Int64) counted {
	begun := looks.Load()
	cost := hostiletest.Watch(period)
	return counted{cost, looks.Load() - begun}
}

func (c counted) judge(t *testing.T, before counted, goroutines int) {
	t.Helper()
	if c.Heap > mostHeap {
		t.Errorf("expected at most %d MiB, got %d", mostHeap>>20, c.Heap>>20)
	}
	if c.Goroutines > goroutines {
		t.Errorf("expected at most %d goroutines, got %d", goroutines, c.Goroutines)
	}
	// A hostile server that blocked the prober would do so for seconds: the whole period. How often the prober reads the
	// healthy cluster depends on what else this machine does.
	if c.looks < 2 {
		t.Errorf("expected the prober to go on reading the other cluster, got %d reads, and %d before", c.looks, before.looks)
	}
}

func TestHostileRedisServersCostLittleAndDelayNoOtherCluster(t *testing.T) {
	world := &redissim.World{}
	world.Run(redissim.Process{Cluster: own, Pod: "own-0", Place: redis.Home, Address: "own:6379", Volume: "own"})
	var looks atomic.Int64
	dial := func(real redis.Dialer) redis.Dialer {
		return func(target redis.Target) (redis.Store, error) {
			if target.Generation == own {
				return world.Dial(target)
			}
			return real(target)
		}
	}(redis.DialThrough(nil))
	p := redis.NewProber(dial, clock.RealClock{}, func(v redis.View) time.Duration {
		if _, is := v.Nodes["own:6379"]; is {
			looks.Add(1)
			return interval
		}
		return eager
	})
	target := func(address string) redis.Target {
		return redis.Target{Nodes: []redis.Node{{Address: address}}, Credentials: redis.Credentials{User: "opcrew", Password: "secret"}}
	}
	well := target("own:6379")
	well.Generation = own
	hostile := map[string]redis.Target{}
	for sort, address := range hostiletest.Start(t).Redis {
		hostile[sort] = target(address)
	}
	attack(t, p.Prober, well, &looks, hostile)
}

func TestHostileMembersOfEtcdCostLittleAndDelayNoOtherCluster(t *testing.T) {
	world := &etcdtest.World{}
	const url = "http://own:2379"
	world.Run(etcdtest.Process{Name: own, PeerURL: "http://own:2380", ClientURL: url, Volume: own, InitialCluster: "own=http://own:2380", Token: own})
	var looks atomic.Int64
	p := etcd.NewProber(func(target etcd.Target) (etcd.Store, error) {
		if target.Generation == own {
			return world.Dial(target)
		}
		return etcd.Dial(target)
	}, clock.RealClock{}, func(v etcd.View) time.Duration {
		if _, is := v.ByName(own); is {
			looks.Add(1)
			return interval
		}
		return eager
	})
	hostile := map[string]etcd.Target{}
	for sort, at := range hostiletest.Start(t).Etcd {
		hostile[sort] = etcd.Target{Endpoints: []string{at}}
	}
	attack(t, p, etcd.Target{Endpoints: []string{url}, Generation: own}, &looks, hostile)
}

func TestAMemberCannotSendTheOperatorToAnotherHost(t *testing.T) {
	var asked atomic.Int64
	victim := "http://" + hostiletest.Serve(hostiletest.Endless("HTTP/1.1 200 OK\r\n", "x"))
	counted := hostiletest.Member(nil, nil, nil) // this address must never be contacted
	members := []*pb.Member{{ID: 1, Name: "a", ClientURLs: []string{victim}}, {ID: 2, Name: "b", ClientURLs: []string{counted, "http://u@" + victim[7:]}}}
	liar := hostiletest.Member(members, hostiletest.Well(), nil)
	dialled := hostiletest.Dials(&asked, liar[7:])
	p := etcd.NewProber(etcd.DialThrough(dialled), clock.RealClock{}, func(etcd.View) time.Duration { return interval })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Start(ctx) }()
	p.Watch(named("liar"), etcd.Target{Endpoints: []string{liar}})
	var seen etcd.View
	for end := time.Now().Add(10 * time.Second); len(seen.Foreign) == 0 && time.Now().Before(end); {
		hostiletest.Watch(interval)
		seen, _ = p.View(named("liar"))
	}
	hostiletest.Watch(10 * interval) // time for some more reads of the cluster
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(seen.Foreign) != 3 || asked.Load() > 0 {
		t.Errorf("expected three URLs to be reported and none to be dialled, got %v, %d dialled", seen.Foreign, asked.Load())
	}
}
