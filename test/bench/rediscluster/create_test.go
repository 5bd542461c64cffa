// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package rediscluster

import (
	"fmt"
	"testing"
	"time"
)

func TestACreationBesideRedisCLI(t *testing.T) {
	sides := inTurns(t, func(t *testing.T) time.Duration {
		c := newCluster(t, 3)
		began := time.Now()
		c.operate(anyStep)
		return c.until(began, 3, c.addresses())
	}, func(t *testing.T) time.Duration {
		c := newCluster(t, 3)
		began := time.Now()
		args := append([]string{"create"}, c.addresses()...)
		cli := redisCLI(t, append(args, "--cluster-replicas", "1", "--cluster-yes")...)
		t.Logf("redis-cli itself took %s", cli)
		return c.until(began, 3, c.addresses())
	})
	fmt.Printf("\n| medians of %d (least to most) | opcrew | redis-cli | opcrew to redis-cli |\n|---|---|---|---|\n"+
		"| 3 nodes serve all slots, replicas in sync | %s | %s | %s (goal 2.5) |\n\n", *rounds, sides[0], sides[1], ratios(sides[0], sides[1]))
}
