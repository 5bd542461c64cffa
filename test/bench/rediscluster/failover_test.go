// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package rediscluster

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

const (
	// nodeTimeout is the cluster-node-timeout in the configuration of servers in pods.
	nodeTimeout = 5 * time.Second
	// failoverGoal is the time limit for a failover: one and a half times nodeTimeout, plus two seconds for the vote.
	failoverGoal = nodeTimeout*3/2 + 2*time.Second
)

func TestAFailover(t *testing.T) {
	c := newCluster(t, 3)
	c.operate(anyStep)
	var all took
	for i := range *failovers {
		c.settled()
		home := c.pods[i%len(c.pods)].Home
		others := slices.DeleteFunc(c.addresses(), func(address string) bool { return address == home.Address() })
		began := time.Now()
		home.Stop(syscall.SIGKILL)
		all = append(all, c.until(began, 2, others))
		t.Logf("slots were served again after %s", all[i])
		home.Start(memory)
	}
	fmt.Printf("\nA primary is killed: all slots are served again after %s, median of %d (goal %s).\n\n", all, *failovers, failoverGoal)
}
