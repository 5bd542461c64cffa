// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import "sync"

// Memory holds what a process remembers about objects between two reconciles, such as the last refusal of a step. The
// zero Memory is empty. A new process begins with an empty Memory, so no safety may depend on it.
//
// Loop.Forget clears it when the object is gone, so that an object created later under the same name begins without it.
type Memory[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// Get returns the value under a key; the zero V if there is none.
func (m *Memory[K, V]) Get(key K) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key]
}

// Set stores a value under a key.
func (m *Memory[K, V]) Set(key K, value V) {
	m.Update(key, func(V) V { return value })
}

// Update replaces the value under a key by the result of change, and returns it. No other goroutine reads or writes the
// Memory meanwhile. change must clone a map or a slice in V before it changes it.
func (m *Memory[K, V]) Update(key K, change func(V) V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[K]V{}
	}
	m.values[key] = change(m.values[key])
	return m.values[key]
}

// Forget drops the value under a key.
func (m *Memory[K, V]) Forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
}
