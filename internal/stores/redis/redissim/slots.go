// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"net"
	"slices"
	"strconv"
)

func number(text string) int {
	n, _ := strconv.Atoi(text) // tests send only valid numbers
	return n
}

func (n console) addSlots(args []string) (any, error) {
	var wanted set
	for pair := range slices.Chunk(args, 2) {
		for slot := number(pair[0]); slot <= number(pair[1]); slot++ {
			if n.owner(slot) != "" {
				return nil, refuse("ERR Slot %d is already busy", slot)
			}
			wanted.add(slot)
		}
	}
	for _, other := range n.world.of(n.Cluster) {
		if twice := other.slots.both(wanted); !twice.empty() {
			n.world.violated(n.Cluster, "%s was given %d slots that %s claims", n.Address, twice.count(), other.Address)
		}
	}
	if key := n.world.kept(n.Cluster, wanted); key != "" {
		n.world.violated(n.Cluster, "%s was given slot %d again without its data, and what clients wrote to it is there", n.Address, slotOf(key))
	}
	n.slots.addAll(wanted)
	return "OK", nil
}

// setSlot implements CLUSTER SETSLOT.
func (n console) setSlot(args []string) (any, error) {
	slot, state := number(args[0]), args[1]
	if state == "STABLE" {
		delete(n.migrating, slot)
		delete(n.importing, slot)
		return "OK", nil
	}
	id := args[2]
	if n.peers[id] == nil && id != n.id {
		return nil, refuse("ERR Unknown node %s", id)
	}
	switch {
	case n.primary != "":
		return nil, refuse("ERR You can use SETSLOT only with masters.")
	case hasJobOf(n.node, slot):
		return nil, refuse("ERR Slot %d is being migrated by a job.", slot)
	case state == "MIGRATING" && !n.slots.has(slot):
		return nil, refuse("ERR I'm not the owner of hash slot %d", slot)
	case state == "MIGRATING":
		n.migrating[slot] = id
	case state == "IMPORTING" && n.slots.has(slot):
		return nil, refuse("ERR I'm already the owner of hash slot %d", slot)
	case state == "IMPORTING":
		n.importing[slot] = id
	default:
		return n.assign(slot, id)
	}
	return "OK", nil
}

// assign implements CLUSTER SETSLOT <slot> NODE <id>.
func (n *node) assign(slot int, id string) (any, error) {
	if n.slots.has(slot) && id != n.id {
		if keys := n.keysIn(slot); len(keys) > 0 {
			return nil, refuse("ERR Can't assign hashslot %d to a different node while I still hold keys for this hash slot.", slot)
		}
		if to := n.reach(n.peers[id]); to == nil || !to.slots.has(slot) {
			n.world.violated(n.Cluster, "%s gave away slot %d before %s had it", n.Address, slot, n.peers[id].address)
		}
	}
	delete(n.migrating, slot)
	if owner := n.owner(slot); owner == n.id {
		n.slots.take(slot)
	} else if owner != "" {
		n.peers[owner].slots.take(slot)
	}
	if id != n.id {
		n.peers[id].slots.add(slot)
		return "OK", nil
	}
	n.slots.add(slot)
	if _, importing := n.importing[slot]; importing {
		delete(n.importing, slot)
		n.outbid()
	}
	return "OK", nil
}

func (n console) countKeys(args []string) (any, error) {
	return int64(len(n.keysIn(number(args[0])))), nil
}

func (n console) getKeys(args []string) (any, error) {
	keys := n.keysIn(number(args[0]))
	out := []any{}
	for _, key := range keys[:min(len(keys), number(args[1]))] {
		out = append(out, key)
	}
	return out, nil
}

// usage implements MEMORY USAGE.
func (n console) usage(args []string) (any, error) {
	value, there := n.data[args[1]]
	if !there {
		return nil, nil
	}
	return value.bytes, nil
}

// migrate implements MIGRATE. It moves either all keys or none, to a server that owns or imports their slot.
func (n console) migrate(args []string) (any, error) {
	to := n.world.running[net.JoinHostPort(args[0], args[1])]
	if to == nil {
		return nil, refuse("IOERR error or timeout connecting to the client")
	}
	if at := slices.Index(args, "AUTH2"); at > 0 {
		if _, err := n.world.login(to.Address, args[at+1], args[at+2]); err != nil {
			return nil, refuse("ERR Target instance replied with error: %s", err.Error())
		}
	}
	moved := false
	for _, key := range args[slices.Index(args, "KEYS")+1:] {
		value, there := n.data[key]
		if _, importing := to.importing[slotOf(key)]; there && !importing && !to.slots.has(slotOf(key)) {
			return nil, refuse("ERR Target instance replied with error: MOVED %d", slotOf(key))
		}
		if there {
			to.set(key, value)
			n.drop(key)
			moved = true
		}
	}
	if !moved {
		return "NOKEY", nil
	}
	return "OK", nil
}
