// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import "sync"

// Memory holds what a process remembers about objects between reconciles, such as the last refused step. The zero
// Memory is empty and ready to use. A new process starts with an empty Memory, so safety must never depend on it.
//
// The functions in Loop.Forget delete an object's entry when the object is gone. A later object with the same name then
// starts without an entry.
type Memory[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// Get returns the value of a key; the zero V if there is none.
func (m *Memory[K, V]) Get(key K) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key]
}

// Set stores the value of a key.
func (m *Memory[K, V]) Set(key K, value V) {
	m.Update(key, func(V) V { return value })
}

// Update replaces the value of a key with the result of change, and returns the new value. The Memory stays locked
// while change runs. change must clone a map or a slice in V before changing it.
func (m *Memory[K, V]) Update(key K, change func(V) V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[K]V{}
	}
	m.values[key] = change(m.values[key])
	return m.values[key]
}

// Forget deletes the value of a key.
func (m *Memory[K, V]) Forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
}
