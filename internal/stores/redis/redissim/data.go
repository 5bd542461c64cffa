// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// written is the value of a key: which of all writes it is, and how many bytes it takes.
type written struct {
	serial int
	bytes  int64
}

// A key is named <slot>/<number>.
func slotOf(key string) int {
	slot, _, _ := strings.Cut(key, "/")
	n, _ := strconv.Atoi(slot) // there are no others
	return n
}

// Write has a client write so many keys, spread over all slots. What it writes is known to be
// written, and must be found again.
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
			return fmt.Errorf("nobody serves slot %d", slot)
		}
		value := written{w.made, bytes}
		server.set(key, value)
		w.acked[cluster][key] = value
	}
	return nil
}

// Abandon has clients know of nothing any more that they wrote: its data has gone with the cluster.
func (w *World) Abandon(cluster string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.acked, cluster)
}

// GiveUp has clients know of nothing any more that is in no folder: no one can have it back. These keys are returned.
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

// kept is a key in some slots that was written and that is in a folder yet, whether or not anybody runs on it.
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

// Lost are keys that were written and that a client does not find.
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

// serves is where a client is led that follows redirects.
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

// Ask has a client with an old map ask a process for a slot, and reports whether the process redirects the client.
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

// followers are the replicas of a process that are in sync.
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

func (n *node) keysIn(slot int) []string {
	var out []string
	for key := range n.data {
		if slotOf(key) == slot {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

func (n *node) bytes() int64 {
	var out int64
	for _, value := range n.data {
		out += value.bytes
	}
	return out
}
