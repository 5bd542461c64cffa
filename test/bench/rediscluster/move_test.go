// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package rediscluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/opcrew/opcrew/internal/agents/shared/redistest"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

const (
	valueBytes = 512
	// pipelined is how many keys the test writes in one pipeline.
	pipelined = 2000
)

func TestAMoveOfSlotsBesideRedisCLI(t *testing.T) {
	var moved [2]int64
	sides := inTurns(t, func(t *testing.T) time.Duration {
		c := toBeBalanced(t)
		c.operate(anyStep)
		c.await("the move to end", func(view redis.View, _ ring.Why) bool { return view.Move != nil && view.Move.Ended })
		view, _ := c.prober.View(shop)
		if view.Move.Err != nil {
			t.Fatal(view.Move.Err)
		}
		moved[0] = c.balanced()
		return view.Move.EndedAt.Sub(view.Move.Began)
	}, func(t *testing.T) time.Duration {
		c := toBeBalanced(t)
		took := redisCLI(t, "rebalance", c.pods[0].Home.Address(), "--cluster-use-empty-masters")
		moved[1] = c.balanced()
		return took
	})
	each := func(i int) float64 { return float64(moved[i]) / sides[i].median().Seconds() }
	fmt.Printf("\n| medians of %d (least to most) | opcrew | redis-cli | opcrew to redis-cli |\n|---|---|---|---|\n"+
		"| 3 to 4 nodes, %d keys of %d bytes | %s | %s | %s |\n| keys a second | %.0f | %.0f | redis-cli to opcrew, in time: %s (goal 0.70) |\n\n",
		*rounds, *keys, valueBytes, sides[0], sides[1], ratios(sides[0], sides[1]), each(0), each(1), ratios(sides[1], sides[0]))
}

// toBeBalanced creates a Redis cluster in which three pods have all slots and the data. A fourth pod has joined the
// cluster but has no slots.
func toBeBalanced(t *testing.T) *cluster {
	t.Helper()
	c := newCluster(t, 3)
	end := c.operate(func(step ring.Step) bool {
		_, moves := step.(redis.MoveSlots)
		return !moves
	})
	c.settled()
	c.fill()
	c.add()
	c.await("slots are all that is missing", func(view redis.View, _ ring.Why) bool {
		step, _ := ring.Next(view, c.wanted())
		_, moves := step.(redis.MoveSlots)
		return moves
	})
	end()
	return c
}

// fill writes the keys that the test moves. Their values cannot be compressed.
func (c *cluster) fill() {
	c.Helper()
	client := goredis.NewClusterClient(&goredis.ClusterOptions{
		Addrs: c.addresses(), Username: redistest.Username, Password: redistest.Password,
	})
	defer func() { _ = client.Close() }()
	value := make([]byte, valueBytes)
	for first := 0; first < *keys; first += pipelined {
		_, err := client.Pipelined(c.Context(), func(p goredis.Pipeliner) error {
			for i := first; i < min(*keys, first+pipelined); i++ {
				_, _ = rand.Read(value) // crypto/rand never returns an error
				p.Set(context.Background(), strconv.Itoa(i), string(value), 0)
			}
			return nil
		})
		if err != nil {
			c.Fatal(err)
		}
	}
}

// balanced checks that each primary has a quarter of the slots and that no key is missing. It returns the number of
// keys in the fourth pod.
func (c *cluster) balanced() (got int64) {
	c.Helper()
	total := int64(0)
	for i, pod := range c.pods {
		status, err := c.store.Status(c.Context(), pod.Home.Address())
		if err != nil {
			c.Fatal(err)
		}
		if n := status.Slots.Len(); n < redis.SlotCount*24/100 || n > redis.SlotCount*26/100 {
			c.Errorf("node %d has %d slots, expected about a quarter of %d", i, n, redis.SlotCount)
		}
		total, got = total+status.Keys, status.Keys
	}
	if total != int64(*keys) {
		c.Errorf("the nodes have %d keys, expected the %d that were written", total, *keys)
	}
	return got
}
