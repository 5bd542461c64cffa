// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// A primary without slots is lost while it receives keys, and its replica has the only copy. Redis elects no replica
// for such a primary. Valkey does since version 8, because its replicas know which slots are being moved.
func TestKeysOfAnOpenSlotOutliveThePrimaryThatWasToGetIt(t *testing.T) {
	o, lists := withLists(t)
	o.pass(2, 0)
	o.cutOff(lists[0])
	o.copied()
	o.kill(o.pods[2].servers()...)
	for _, s := range o.pods[2].servers() {
		s.wipe(t)
		o.restart(o.host(2), s)
	}
	o.run()
	o.settled(later)
	o.listsAreWhole(lists)
}

// pass assigns all slots of one of three pods to the primary of another pod. These slots must have no keys.
func (o *operator) pass(from, to int) {
	o.t.Helper()
	id, commands := o.id(o.pods[to].home), []redis.Command{}
	for _, slot := range even(from, 3).Numbers() {
		commands = append(commands, redis.Command{"CLUSTER", "SETSLOT", slot, "NODE", id})
	}
	// All servers accept the slot owner with the highest epoch.
	o.command(o.pods[to].home, redis.Command{"CLUSTER", "BUMPEPOCH"})
	for _, pod := range []int{to, from} {
		o.command(o.pods[pod].home, commands...)
	}
}

// If a replica replaces the destination of a move, the move must continue with the new primary. Otherwise clients would
// be redirected to the old primary for as long as it is gone.
func TestAMoveIsFinishedWithTheNewPrimaryInPlaceOfOneThatStaysAway(t *testing.T) {
	o, lists := withLists(t)
	o.cutOff(lists[0])
	o.copied()
	o.kill(o.pods[2].home)
	o.leads(o.pods[0].guest)
	o.run()
	o.await(soon, "no slot to be open", func(view redis.View, _ ring.Ring, _ ring.Why) bool {
		for _, status := range view.Nodes {
			if len(status.Migrating)+len(status.Importing) > 0 {
				return false
			}
		}
		return !view.Stale
	})
	o.listsAreWhole(lists)
}

// withLists returns a cluster of three pods with two lists in one slot. Its operator has been stopped.
func withLists(t *testing.T) (*operator, []string) {
	t.Helper()
	o := operate(t, 3)
	o.settled(soon)
	lists := []string{"{mid}1", "{mid}2"}
	o.fillLists(lists)
	o.crash()
	return o, lists
}

// copied waits until the replica of pod 2's primary has as many keys as that primary.
func (o *operator) copied() {
	o.t.Helper()
	size := redis.Command{"DBSIZE"}
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if keys := o.command(o.pods[2].home, size); keys != int64(0) && keys == o.command(o.pods[0].guest, size) {
			return
		}
	}
	o.t.Fatal("expected the replica to have the keys of its primary")
}
