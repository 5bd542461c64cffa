// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// world is a fake Redis cluster from which views are made. Each pod has a home server (usually a primary) and a guest
// server (usually a replica). In pod 0 they are named h0 and g0, in pod 1 h1 and g1, and so on.
type world struct {
	ring  ring.Ring
	at    time.Time
	stale bool
	move  *redis.Progress
	procs map[string]*process
	// ghosts are additional entries in the node tables of all servers.
	ghosts []redis.Peer
	order  []string
}

// process is one fake server.
type process struct {
	redis.NodeStatus
	address string
	// down marks a server that does not answer, but whose address the others know. alone marks a server that has never
	// met another one.
	down, alone bool
	// remembered marks a silent server of which the view still contains the last answer.
	remembered bool
	// elsewhere is the address that the other servers have for this one, if it is not the current address.
	elsewhere string
	// heard holds the slots that the other servers list for this one, if that is wrong.
	heard redis.Slots
	// mistaken marks a server that the other servers list as a primary with the epoch mistakenEpoch.
	mistaken bool
}

// mistakenEpoch is higher than the epoch of any server.
const mistakenEpoch = 1000

const gib = 1 << 30

// fresh returns n pods whose servers have never met.
func fresh(n int) *world {
	w := &world{at: time.Unix(1_000_000, 0), procs: map[string]*process{}}
	w.ring.Nodes = n
	for range n {
		w.add()
	}
	return w
}

// add adds a pod with two fresh servers.
func (w *world) add() {
	i := len(w.ring.Pods)
	pod := ring.Pod{Home: fmt.Sprintf("10.0.0.%d:6379", i+1), Guest: fmt.Sprintf("10.0.0.%d:6380", i+1)}
	w.ring.Pods = append(w.ring.Pods, pod)
	for place, address := range map[string]string{"h": pod.Home, "g": pod.Guest} {
		name := fmt.Sprintf("%s%d", place, i)
		w.procs[name] = &process{address: address, alone: true, NodeStatus: redis.NodeStatus{
			ID: "id-" + name, RunID: "run-" + name, Role: redis.Primary, ClusterOK: true, MaxMemory: gib,
		}}
	}
	w.order = append(w.order, fmt.Sprintf("h%d", i), fmt.Sprintf("g%d", i))
}

// formed returns a healthy cluster of n pods. Each shard has a thousand keys.
func formed(n int) *world {
	w := fresh(n)
	for i := range n {
		home := w.procs[fmt.Sprintf("h%d", i)]
		home.Slots = even(i, n)
		w.fill(fmt.Sprintf("h%d", i))
		w.follow(fmt.Sprintf("g%d", (i+1)%n), fmt.Sprintf("h%d", i))
	}
	for i, name := range w.order {
		w.procs[name].alone = false
		w.procs[name].ConfigEpoch = uint64(i + 1)
	}
	return w
}

func even(i, n int) redis.Slots {
	return redis.Slots{{First: (i*redis.SlotCount + n/2) / n, Last: ((i+1)*redis.SlotCount+n/2)/n - 1}}
}

// p returns servers by their names, such as "h0 g1".
func (w *world) p(names string) []*process {
	var out []*process
	for name := range strings.FieldsSeq(names) {
		out = append(out, w.procs[name])
	}
	return out
}

func (w *world) one(name string) *process { return w.procs[name] }

func (w *world) fill(names string) {
	for _, p := range w.p(names) {
		p.Keys, p.UsedMemory, p.Dataset, p.Offset = 1000, gib/4, gib/5, 5000
	}
}

// join introduces fresh servers to the others.
func (w *world) join(names string) {
	for _, p := range w.p(names) {
		p.alone = false
	}
}

// follow makes a server a replica in sync.
func (w *world) follow(name, primary string) {
	p, of := w.procs[name], w.procs[primary]
	p.alone, p.Role, p.PrimaryID, p.Source, p.LinkUp, p.Slots = false, redis.Replica, of.ID, of.address, true, nil
	p.Keys, p.UsedMemory, p.Dataset, p.Offset = of.Keys, of.UsedMemory, of.Dataset, of.Offset
}

// promote makes a replica the primary, and its former primary a replica.
func (w *world) promote(name, instead string) {
	p, old := w.procs[name], w.procs[instead]
	p.Role, p.PrimaryID, p.Source, p.LinkUp, p.Slots = redis.Primary, "", "", false, old.Slots
	old.Slots = nil
	if !old.down {
		w.follow(instead, name)
	}
}

func (w *world) kill(names string) {
	for _, p := range w.p(names) {
		p.down = true
	}
}

// cutOff makes servers stop answering.
func (w *world) cutOff(names string) {
	for _, p := range w.p(names) {
		p.down, p.remembered = true, true
	}
}

// gone marks pods as certainly gone.
func (w *world) gone(pods ...int) {
	for _, i := range pods {
		w.kill(fmt.Sprintf("h%d g%d", i, i))
		w.ring.Pods[i].Gone = true
	}
}

// wipe replaces a server by a new one without data. The previous ID stays in the node tables.
func (w *world) wipe(name string) {
	p := w.procs[name]
	w.ghosts = append(w.ghosts, redis.Peer{ID: p.ID, Address: p.address, Role: p.Role, PrimaryID: p.PrimaryID, Slots: p.Slots, Failed: true})
	w.procs[name] = &process{address: p.address, alone: true, NodeStatus: redis.NodeStatus{ID: p.ID + "-new", RunID: p.RunID + "-new", Role: redis.Primary}}
}

// open marks a slot as moving at both servers of a move.
func (w *world) open(slot int, from, to string) {
	w.one(from).Migrating = map[int]string{slot: w.one(to).ID}
	w.one(to).Importing = map[int]string{slot: w.one(from).ID}
}

// failed adds a move that failed a moment ago.
func (w *world) failed() {
	w.move = &redis.Progress{Goal: w.ring.Nodes, Ended: true, EndedAt: w.at, Err: errors.New("connection refused"), Failures: 1}
}

func (w *world) view() redis.View {
	out := redis.View{At: w.at, Stale: w.stale, Move: w.move, Nodes: map[string]redis.NodeStatus{}}
	for _, p := range w.procs {
		status := p.NodeStatus
		if p.down {
			status = redis.NodeStatus{Err: errors.New("connection refused")}
			if p.remembered {
				status.RunID, status.PrimaryID, status.Source = p.RunID, p.PrimaryID, p.Source
			}
		}
		if !p.down && !p.Loading {
			status.Known = w.table(p)
		}
		out.Nodes[p.address] = status
	}
	return out
}

// table returns the node table of a server.
func (w *world) table(of *process) []redis.Peer {
	out := []redis.Peer{of.peer()}
	out[0].Myself, out[0].Address, out[0].Slots, out[0].Role = true, of.address, of.Slots, of.Role
	if of.alone {
		return out
	}
	for _, name := range w.order {
		if p := w.procs[name]; p != of && !p.alone {
			out = append(out, p.peer())
		}
	}
	return append(out, w.ghosts...)
}

// peer returns the entry of a server in the other servers' node tables.
func (p *process) peer() redis.Peer {
	out := redis.Peer{ID: p.ID, Address: p.address, Role: p.Role, PrimaryID: p.PrimaryID, Slots: p.Slots, Failed: p.down, Connected: !p.down}
	if p.elsewhere != "" {
		out.Address = p.elsewhere
	}
	if p.heard != nil {
		out.Slots = p.heard
	}
	if p.mistaken {
		out.Role, out.ConfigEpoch = redis.Primary, mistakenEpoch
	}
	return out
}
