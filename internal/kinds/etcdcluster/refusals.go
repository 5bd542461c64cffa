// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// refusals remembers what clusters said when they did not take a step, until they take one.
type refusals struct{ words sync.Map }

func (r *refusals) note(key types.NamespacedName, err error) { r.words.Store(key, err.Error()) }

func (r *refusals) forget(key types.NamespacedName) { r.words.Delete(key) }

func (r *refusals) of(key types.NamespacedName) string {
	words, _ := r.words.Load(key)
	text, _ := words.(string)
	return text
}
