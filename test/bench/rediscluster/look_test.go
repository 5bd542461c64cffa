// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package rediscluster

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

const (
	// lookEvery is the interval at which the operator reads the state of a cluster that needs no change. perLook is the
	// number of commands that it sends to each server per reading; a replica of an older version also gets CLIENT LIST,
	// which says how long it has followed its primary.
	lookEvery = 2 * time.Second
	perLook   = 5
	counted   = 20 * time.Second
	fleet     = 200
)

func TestWhatServersAtRestAreAsked(t *testing.T) {
	c := newCluster(t, 3)
	c.operate(anyStep)
	c.settled()
	time.Sleep(2 * lookEvery) // let the operator return to this interval; during changes it reads more often
	for _, address := range c.addresses() {
		if _, err := c.store.Do(t.Context(), address, redis.Command{"CONFIG", "RESETSTAT"}); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(counted)
	most := perLook * (int(counted/lookEvery) + 1)
	for _, address := range c.addresses() {
		calls := c.calls(address)
		n := calls["info"] + calls["cluster|info"] + calls["cluster|nodes"] + calls["acl|dryrun"] + calls["client|list"]
		if n == 0 || n > most {
			t.Errorf("expected %s to be asked up to %d times in %s, got %d", address, most, counted, n)
		}
		for command := range calls {
			if !expectedAtRest(command) {
				t.Errorf("expected %s not to be sent %s at rest", address, command)
			}
		}
		fmt.Printf("%s: %.2f commands a second at rest\n", address, float64(n)/counted.Seconds())
	}
}

// expectedAtRest reports whether a server may get this command while the operator has nothing to do. Such a command
// reads the state, is part of the traffic between servers, or comes from this test.
func expectedAtRest(command string) bool {
	return regexp.MustCompile(`^(info|cluster\|info|cluster\|nodes|acl\|dryrun|client\|list|ping|replconf|config\|resetstat)$`).MatchString(command)
}

// calls returns how often a server has received each command.
func (c *cluster) calls(address string) map[string]int {
	c.Helper()
	answers, err := c.store.Do(c.Context(), address, redis.Command{"INFO", "commandstats"})
	if err != nil {
		c.Fatal(err)
	}
	out := map[string]int{}
	for _, m := range regexp.MustCompile(`cmdstat_([^:]+):calls=(\d+)`).FindAllStringSubmatch(answers[0].(string), -1) {
		out[m[1]], _ = strconv.Atoi(m[2])
	}
	return out
}

// resting is a store whose servers always report the same status.
type resting struct {
	redis.Store
	status map[string]redis.NodeStatus
	looks  *atomic.Int64
}

func (r *resting) Status(_ context.Context, address string) (redis.NodeStatus, error) {
	r.looks.Add(1)
	return r.status[address], nil
}

func (r *resting) Close() error { return nil }

func TestWhatAFleetAtRestIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks, events atomic.Int64
		target, status := ringAtRest()
		p := redis.NewProber(func(redis.Target) (redis.Store, error) { return &resting{status: status, looks: &looks}, nil }, clock.RealClock{}, nil)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go func() { _ = p.Start(ctx) }()
		go func() {
			for ctx.Err() == nil {
				select {
				case <-p.Events():
					events.Add(1)
				case <-ctx.Done():
				}
			}
		}()
		for i := range fleet {
			p.Watch(types.NamespacedName{Name: strconv.Itoa(i)}, target)
		}
		time.Sleep(time.Minute - time.Second)
		if want := int64(fleet * len(target.Nodes) * int(time.Minute/lookEvery)); looks.Load() != want {
			t.Errorf("expected %d servers to be asked every %s, which is %d times a minute, got %d", fleet*len(target.Nodes), lookEvery, want, looks.Load())
		}
		if events.Load() != fleet {
			t.Errorf("expected one event for each of %d clusters that come up, got %d", fleet, events.Load())
		}
		fmt.Printf("%d clusters at rest: %d looks at a server a minute, %d commands; %d events\n", fleet, looks.Load(), perLook*looks.Load(), events.Load())
	})
}

// ringAtRest returns a Redis cluster that needs no change, so that the operator reads its state only at the normal
// interval.
func ringAtRest() (redis.Target, map[string]redis.NodeStatus) {
	target, status := redis.Target{}, map[string]redis.NodeStatus{}
	for i := range 6 {
		address := fmt.Sprintf("10.0.0.%d:6379", i)
		target.Nodes = append(target.Nodes, redis.Node{Address: address})
		status[address] = redis.NodeStatus{ID: address, Role: redis.Primary, ClusterOK: true}
	}
	return target, status
}
