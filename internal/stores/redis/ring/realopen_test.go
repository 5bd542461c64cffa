// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// In Redis 7.0, a replica that becomes a primary does not know which slots are being moved. If the replica replaces the
// source of a move, it does not have the keys that were already moved, and the destination lists no owner of the slots.
func TestSlotsThatWereOpenWhenAnotherTookTheLeadAreMovedAndKeepTheirKeys(t *testing.T) {
	for name, replace := range replacements() {
		t.Run(name, func(t *testing.T) {
			o, lists := withLists(t)
			o.cutOff(lists[0])
			replace(o, 2)
			o.run()
			o.settled(soon)
			o.listsAreWhole(lists)
		})
	}
}

func TestKeysThatHadGoneAreFoundAsSoonAsTheirSlotIsOpenAgain(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	lists := []string{"{mid}1", "{mid}2", "{mid}3"}
	o.fillLists(lists)
	o.crash()
	o.cutOff("{mid}1", "{mid}3")
	from, to := o.pods[1].guest, o.pods[2].home
	o.failover(from)
	if err := o.client().Set(t.Context(), "{mid}3", "again", 0).Err(); err != nil {
		t.Fatal(err)
	}
	slot := o.slot(from, "{mid}").(int64)
	o.apply(redis.OpenSlots{Moves: []redis.Move{{From: o.endAt(from), To: o.endAt(to), Slots: redis.SlotsOf(int(slot))}}})
	o.listsAreWhole(lists[:2])
	o.run()
	o.settled(soon)
	o.listsAreWhole(lists[:2])
	if got, err := o.client().Get(t.Context(), "{mid}3").Result(); got != "again" {
		t.Errorf("expected what clients have been reading of a key at both ends to be kept, got %q (%v)", got, err)
	}
}

// cutOff simulates a move that was interrupted: it moves keys from the primary of pod 0 to the primary of pod 2, and
// leaves their slot half moved.
func (o *operator) cutOff(keys ...string) {
	o.t.Helper()
	from, to := o.pods[0].home, o.pods[2].home
	o.open(o.slot(from, keys[0]), from, to)
	for _, key := range keys {
		o.command(from, o.migrate(to, key))
	}
}

func (o *operator) endAt(s *server) redis.End {
	id, _ := o.id(s).(string)
	return redis.End{Address: s.address, ID: id}
}

func (o *operator) apply(step redis.Step) {
	o.t.Helper()
	store, err := redis.Dial(redis.Target{Credentials: redis.Credentials{User: "opcrew", Password: secret}})
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = store.Close() }() // no call is in progress, so an error does not matter
	if err := redis.Apply(o.t.Context(), store, step); err != nil {
		o.t.Fatal(err)
	}
}

// failover makes a replica the primary by agreement. A failed attempt ends after 5 seconds.
func (o *operator) failover(replica *server) {
	o.t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); {
		o.command(replica, redis.Command{"CLUSTER", "FAILOVER"})
		if o.leadsWithin(replica, 6*time.Second) {
			return
		}
	}
	o.t.Fatalf("expected the %s of pod %d to take the lead", replica.place, replica.pod)
}

// leads waits until a server is a primary and all others know it.
func (o *operator) leads(s *server) {
	o.t.Helper()
	if !o.leadsWithin(s, soon) {
		o.t.Fatalf("expected the %s of pod %d to lead", s.place, s.pod)
	}
}

func (o *operator) leadsWithin(s *server, limit time.Duration) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		answer, err := o.tried(s, redis.Command{"ROLE"}) // a busy machine may delay the answer, so an error is no result
		role, _ := answer.([]any)
		if err == nil && len(role) > 0 && role[0] == "master" {
			time.Sleep(time.Second) // gives all servers time to learn the new role
			return true
		}
	}
	return false
}

// In each case, the source or the destination of the move is replaced by its replica.
func TestAMoveByKeysIsFinishedAfterFailovers(t *testing.T) {
	for name, replace := range replacements() {
		t.Run(name, func(t *testing.T) {
			o := operate(t, 3)
			o.settled(soon)
			o.needsKeys()
			var lists []string
			for i := range 4000 {
				lists = append(lists, fmt.Sprint("list:", i))
			}
			o.fillLists(lists)
			o.pace(20_000)
			o.scale(4)
			o.half()
			replace(o, 3)
			o.pace(0)
			o.settled(2 * soon)
			o.listsAreWhole(lists)
		})
	}
}

// replacements returns ways to replace one end of a slot move by its replica: either the source, which is the primary
// of pod 0, or the destination, which is the primary of pod number to.
func replacements() map[string]func(o *operator, to int) {
	return map[string]func(*operator, int){
		"its source hands over": func(o *operator, _ int) { o.failover(o.pods[1].guest) },
		"its source is killed": func(o *operator, _ int) {
			o.kill(o.pods[0].home)
			o.leads(o.pods[1].guest)
			o.restart(o.host(0), o.pods[0].home)
		},
		"the end that gets the slots hands over": func(o *operator, to int) { o.failover(o.pods[(to+1)%len(o.pods)].guest) },
	}
}

// needsKeys skips the test if the servers move slots with jobs instead of key by key.
func (o *operator) needsKeys() {
	o.t.Helper()
	view, _ := o.prober.View(shop)
	for _, status := range view.Nodes {
		if status.Version.HasJobs() {
			o.t.Skipf("the server is %s, and moves slots by jobs", status.Version.Number)
		}
	}
}

// items is the number of items in each list.
const items = 50

func (o *operator) fillLists(keys []string) {
	o.t.Helper()
	client := o.client()
	defer func() { _ = client.Close() }() // no call is in progress, so an error does not matter
	values := make([]any, items)
	for item := range values {
		values[item] = fmt.Sprintf("item %020d", item)
	}
	for _, key := range keys {
		// A client that is redirected too often gives up, so the write is repeated. Refused commands had no effect.
		eventually.True(o.t, soon, "a list to be filled", func() error {
			err := client.RPush(o.t.Context(), key, values...).Err()
			if err != nil && !strings.HasPrefix(err.Error(), "MOVED") {
				o.t.Fatal(err)
			}
			return err
		})
	}
}

// listsAreWhole expects each list to have all of its items.
func (o *operator) listsAreWhole(keys []string) {
	o.t.Helper()
	client := o.client()
	defer func() { _ = client.Close() }() // no call is in progress, so an error does not matter
	short := 0
	for _, key := range keys {
		if n, err := client.LLen(o.t.Context(), key).Result(); err != nil || n != items {
			short++
			o.t.Logf("%s has %d items (%v)", key, n, err)
		}
	}
	if short > 0 {
		o.t.Errorf("expected all of %d lists to be whole, %d are not", len(keys), short)
	}
}

// pace sets the rate of slot moves in bytes per second.
func (o *operator) pace(rate int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rate = rate
}

// half waits until slots of the first shard are being moved and some of their keys have been moved.
func (o *operator) half() {
	o.t.Helper()
	from, to := o.pods[0].home.address, o.pods[3].home.address
	o.await(later, "keys of open slots to have gone", func(view redis.View, _ ring.Ring, _ ring.Why) bool {
		source := view.Nodes[from]
		return view.Moving() && len(source.Migrating) > 0 && view.Nodes[to].Keys > 0
	})
}
