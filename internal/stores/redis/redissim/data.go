// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Write makes a client write the given number of keys, spread over all slots. Later, Lost reports writes that were
// acknowledged and are missing.
func (w *World) Write(cluster string, keys int, bytes int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.acked[cluster] == nil {
		w.acked[cluster] = map[string]written{}
	}
	for i := range keys {
		slot := i * redis.SlotCount / keys
		w.made++
		key := fmt.Sprintf("%d/%d", slot, w.made)
		server := w.serves(cluster, key)
		if server == nil {
			return fmt.Errorf("no process serves slot %d", slot)
		}
		value := written{w.made, bytes}
		server.set(key, value)
		w.acked[cluster][key] = value
	}
	return nil
}

// Abandon deletes the record of acknowledged writes. Call it when a cluster was deleted with its data.
func (w *World) Abandon(cluster string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.acked, cluster)
}

// GiveUp deletes the record of acknowledged writes that no data directory contains any more, and returns their keys.
func (w *World) GiveUp(cluster string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	there := map[written]bool{}
	for _, f := range w.folders {
		for _, value := range f.data {
			there[value] = true
		}
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(w.acked[cluster])) {
		if !there[w.acked[cluster][key]] {
			out = append(out, key)
			delete(w.acked[cluster], key)
		}
	}
	return out
}

// kept returns a written key of the given slots that is still in a data directory, even in an unused one; "" if there
// is none.
func (w *World) kept(cluster string, slots set) string {
	for _, f := range w.folders {
		for key, value := range f.data {
			if f.cluster == cluster && slots.has(slotOf(key)) && w.acked[cluster][key] == value {
				return key
			}
		}
	}
	return ""
}

// Lost returns the written keys that a client does not find.
func (w *World) Lost(cluster string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, key := range slices.Sorted(maps.Keys(w.acked[cluster])) {
		if server := w.serves(cluster, key); server == nil || server.data[key] != w.acked[cluster][key] {
			out = append(out, key)
		}
	}
	return out
}

// serves returns the server that a client reaches for a key if it follows redirects.
func (w *World) serves(cluster, key string) *node {
	slot := slotOf(key)
	for _, n := range w.of(cluster) {
		if n.primary != "" || !n.slots.has(slot) || !n.ok() {
			continue
		}
		to, moves := n.migrating[slot]
		if _, here := n.data[key]; moves && !here {
			if p := n.peers[to]; p != nil && n.reach(p) != nil {
				return n.reach(p)
			}
		}
		return n
	}
	return nil
}

// Ask makes a client with an outdated slot map send a request for a slot to a server. It reports whether the server
// redirects the client.
func (w *World) Ask(address string, slot int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.running[address]
	if n == nil || n.owner(slot) == "" || n.slots.has(slot) {
		return false
	}
	n.redirects++
	return true
}

// followers returns the replicas of a server that are in sync.
func (n *node) followers() []*node {
	return slices.DeleteFunc(n.world.of(n.Cluster), func(other *node) bool { return other.primary != n.id || !other.synced })
}

func (n *node) set(key string, value written) {
	for _, at := range append(n.followers(), n) {
		at.data[key] = value
		at.offset += value.bytes
	}
}

func (n *node) drop(key string) {
	for _, at := range append(n.followers(), n) {
		delete(at.data, key)
		at.offset++
	}
}

func (n *node) copy(from *node) {
	n.data, n.offset, n.synced, n.linked = maps.Clone(from.data), from.offset, true, true
	n.libraries = maps.Clone(from.libraries)
}
