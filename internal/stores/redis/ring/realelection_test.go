// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Regression test: an operator was killed during a failover, and the replica lost the election. The next two operators
// tried again at once, and each time the primary served no clients for another 5 seconds.
func TestAReplicaIsNotAskedAgainByANewOperatorAfterAnElectionThatWasLost(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	o.handsOver(0, "a new operator makes the guest server of pod 1 the primary in a new cluster")
	o.election(o.pods[1].guest, o.pods[1].home, o.pods[2].home)
	o.settled(soon)
	if step, why := o.handover(0); step != nil || !refusedWith(why, "which no replica has won") {
		t.Errorf("expected a new operator to wait after an election that was lost, and not to %v (%v)", step, why.Refusals)
	}
}

func TestAHomeThatHasJustTakenTheLeadBackDoesNotHandOver(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	o.kill(o.pods[1].home)
	o.led(1, o.pods[2].guest)
	o.restart(o.host(1), o.pods[1].home)
	o.settled(soon)
	if step, why := o.handover(1); step != nil || !refusedWith(why, "the guest server of pod 2 may have been the primary a moment ago") {
		t.Errorf("expected that who led a moment ago is not asked to again, and not to %v (%v)", step, why.Refusals)
	}
	o.handsOver(0, "another pod is handed over")
}

// handsOver waits until a new operator would hand over a pod. A new replica takes a moment to be known to all servers.
func (o *operator) handsOver(i int, what string) {
	o.t.Helper()
	var why ring.Why
	defer func() {
		if o.t.Failed() {
			o.t.Logf("the handover of pod %d was refused: %v", i, why.Refusals)
		}
	}()
	o.await(soon, what, func(redis.View, ring.Ring, ring.Why) bool {
		var step ring.Step
		step, why = o.handover(i)
		return step != nil
	})
}

// handover returns the step that a new operator takes when a pod is about to be stopped.
func (o *operator) handover(i int) (ring.Step, ring.Why) {
	o.t.Helper()
	view, _ := o.prober.View(shop)
	wanted := o.wanted()
	wanted.New, wanted.Elections, wanted.Pods[i].Yields = true, time.Hour, true
	return ring.Next(view, wanted)
}

func refusedWith(why ring.Why, words string) bool {
	return slices.ContainsFunc(why.Refusals, func(r ring.Refusal) bool { return strings.Contains(r.Message, words) })
}

// election makes a replica request votes while the voters hang, until the replica gives up after twice the node timeout
// (cluster.c, clusterHandleSlaveFailover, auth_timeout).
func (o *operator) election(replica *server, voters ...*server) {
	o.t.Helper()
	for _, voter := range voters {
		o.signal(voter, syscall.SIGSTOP)
		defer o.signal(voter, syscall.SIGCONT)
	}
	o.command(replica, redis.Command{"CLUSTER", "FAILOVER"})
	time.Sleep(6 * time.Second)
}
