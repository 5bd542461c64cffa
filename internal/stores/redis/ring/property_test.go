// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

func TestNoViewLeadsToAForbiddenStep(t *testing.T) {
	const seeds = 4000
	seen := map[string]int{}
	for seed := range uint64(seeds) {
		w := random(rand.New(rand.NewPCG(seed, 1)))
		view := w.view()
		step, why := ring.Next(view, w.ring)
		if step == nil {
			seen["none"]++
			continue
		}
		seen[reflect.TypeOf(step).Name()]++
		seen[strings.Join(strings.Fields(why.Doing)[:2], " ")]++
		if wrong := forbidden(view, w.ring, step); wrong != "" {
			t.Fatalf("seed %d: %s (%s): %s\n%s", seed, step, why.Doing, wrong, w)
		}
	}
	for _, step := range []redis.Step{
		redis.SetEpoch{}, redis.RaiseEpoch{}, redis.Introduce{}, redis.AssignSlots{}, redis.Admit{}, redis.Replicate{}, redis.TakeLead{}, redis.Takeover{},
		redis.ForceFailover{}, redis.Forget{}, redis.CancelMove{}, redis.MoveSlots{}, redis.OpenSlots{}, redis.StopMove{}, redis.ResetEmpty{}, redis.Renew{},
	} {
		if name := reflect.TypeOf(step).Name(); seen[name] == 0 {
			t.Errorf("expected some of %d views to lead to %s, so that it is tried here: %v", seeds, name, seen)
		}
	}
	if seen["give up"] == 0 || seen["assign slots"] == 0 {
		t.Errorf("expected some of %d views to lead to slots being given up, and given out again: %v", seeds, seen)
	}
}

// random returns a cluster after a few random events.
func random(r *rand.Rand) *world {
	n := 1 + r.IntN(5)
	w := formed(n)
	if r.IntN(8) == 0 {
		w = fresh(n)
		if r.IntN(2) == 0 {
			for _, name := range w.order {
				w.join(name)
			}
		}
	}
	switch r.IntN(6) {
	case 0:
		for range 1 + r.IntN(2) {
			w.add()
		}
		w.ring.Nodes = len(w.ring.Pods)
	case 1:
		w.ring.Nodes = 1 + r.IntN(n)
		w.drain()
	case 2:
		w.ring.Nodes = 1 + r.IntN(n)
	}
	for range r.IntN(6) {
		happens(w, r)
	}
	return w
}

// lose removes both copies of a shard, or restarts the replica and removes the primary. In some cases the other servers
// forget the primary too. The user gives up the shard's data.
func (w *world) lose(shard, how int) {
	home, guest := fmt.Sprintf("h%d", shard), fmt.Sprintf("g%d", (shard+1)%len(w.ring.Pods))
	w.ring.GivenUp = redis.SlotsOf(append(w.ring.GivenUp.Numbers(), w.one(home).Slots.Numbers()...)...)
	ghosts := w.ghosts
	w.wipe(home)
	w.join(home)
	if how == 2 {
		w.restart(guest)
		return
	}
	w.wipe(guest)
	w.join(guest)
	if how == 1 {
		w.ghosts = ghosts
	}
}

// drain takes all slots away from the surplus pods.
func (w *world) drain() {
	for i := w.ring.Nodes; i < len(w.ring.Pods); i++ {
		p := w.one(fmt.Sprintf("h%d", i))
		p.Slots, p.Keys = nil, 0
	}
	for i := range w.ring.Nodes {
		w.one(fmt.Sprintf("h%d", i)).Slots = even(i, w.ring.Nodes)
	}
}

// happens changes the cluster, or what the operator knows about it, by one random event.
func happens(w *world, r *rand.Rand) { //nolint:gocyclo // a list, one line or two each
	name, other := w.order[r.IntN(len(w.order))], w.order[r.IntN(len(w.order))]
	p, q := w.one(name), w.one(other)
	switch r.IntN(27) {
	case 0, 1:
		p.down, p.remembered = true, r.IntN(2) == 0
		w.ring.Pods[r.IntN(len(w.ring.Pods))].Ended = map[redis.Place]bool{redis.Home: r.IntN(2) == 0, redis.Guest: true}
	case 2, 3:
		pod := r.IntN(len(w.ring.Pods))
		w.gone(pod)
		w.ring.Pods[pod].Returns = r.IntN(2) == 0
	case 4:
		p.elsewhere = "10.9.9.9:6379"
	case 5:
		w.wipe(name)
		w.one(name).alone = r.IntN(2) == 0
	case 6, 7:
		if p.Role == redis.Primary && q.Role == redis.Replica {
			w.promote(other, name)
		}
	case 8:
		w.open(r.IntN(redis.SlotCount), name, other)
	case 9:
		p.Migrating = map[int]string{r.IntN(redis.SlotCount): q.ID}
	case 10:
		p.Importing = map[int]string{r.IntN(redis.SlotCount): q.ID}
	case 11:
		p.LinkUp = false
	case 12:
		p.Offset -= int64(r.IntN(2000))
	case 13:
		p.Keys = int64(r.IntN(3))
	case 14:
		p.heard = q.Slots
	case 15:
		w.ghosts = append(w.ghosts, redis.Peer{ID: fmt.Sprintf("ghost-%d", r.IntN(9)), Role: redis.Primary, Handshake: r.IntN(3) == 0})
	case 16:
		p.Loading = true
	case 17:
		if len(p.Slots) == 0 {
			w.follow(name, other)
		}
	case 18:
		p.alone = true
		p.CurrentEpoch = r.Uint64N(2)
	case 19:
		w.move = &redis.Progress{Goal: w.ring.Nodes + r.IntN(2), Slots: 9, Ended: r.IntN(2) == 0}
	case 20, 21:
		w.restart(name)
	case 22:
		w.lose(r.IntN(len(w.ring.Pods)), r.IntN(3))
	case 23:
		w.ring.GivenUp = redis.SlotsOf(append(w.ring.GivenUp.Numbers(), p.Slots.Numbers()...)...)
	case 24:
		w.ring.Pods[r.IntN(len(w.ring.Pods))].Yields = true
	case 25:
		p.NotAdmitted = true
		if q.Role == redis.Replica && r.IntN(2) == 0 {
			q.Source = p.address
		}
	case 26:
		w.failed()
		p.mistaken = true
	}
}

func (w *world) String() string {
	out := fmt.Sprintf("%d pods wanted of %d\n", w.ring.Nodes, len(w.ring.Pods))
	for _, name := range w.order {
		p := w.one(name)
		out += fmt.Sprintf("%s %s down=%v alone=%v loading=%v %s of %q link=%v unlinked=%v mistaken=%v keys=%d slots=%s migrating=%v importing=%v\n",
			name, p.ID, p.down, p.alone, p.Loading, p.Role, p.PrimaryID, p.LinkUp, p.Unlinked, p.mistaken, p.Keys, p.Slots, p.Migrating, p.Importing)
	}
	return out + fmt.Sprintf("ghosts: %v\nforsaken: %s", w.ghosts, w.ring.GivenUp)
}
