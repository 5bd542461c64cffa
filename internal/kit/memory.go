// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import "sync"

// Memory holds what a process remembers of objects between two reconciles, such as the last refusal of a
// step. The zero Memory is empty. A new process begins with an empty one, so no safety may depend on it.
//
// Loop.Forget clears it when the object is gone: an object created later under the same name begins without it.
type Memory[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// Get returns what is remembered under a key, the zero V if nothing is.
func (m *Memory[K, V]) Get(key K) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key]
}

// Set remembers a value under a key.
func (m *Memory[K, V]) Set(key K, value V) {
	m.Update(key, func(V) V { return value })
}

// Update replaces the value under a key by what change makes of it, and returns the new value. No other
// goroutine reads or writes the Memory meanwhile. A map or a slice in V must be cloned before it is changed.
func (m *Memory[K, V]) Update(key K, change func(V) V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[K]V{}
	}
	m.values[key] = change(m.values[key])
	return m.values[key]
}

// Forget drops what is remembered under a key.
func (m *Memory[K, V]) Forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
}
