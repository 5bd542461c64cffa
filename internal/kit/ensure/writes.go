// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Writes remembers the version that each object had after our own last write of it,
// until the cache has seen that version. A decision taken on an older one would
// repeat the write; so anyone who finds the cache behind waits for its event instead.
// Kubernetes' own controllers do the same since 1.36 (KEP-5647).
type Writes struct {
	mu       sync.Mutex
	versions map[Ref]string
}

// NewWrites returns an empty memory.
func NewWrites() *Writes {
	return &Writes{versions: map[Ref]string{}}
}

// Record remembers the version that a write returned.
func (w *Writes) Record(gvk schema.GroupVersionKind, object client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions[Ref{gvk, client.ObjectKeyFromObject(object)}] = object.GetResourceVersion()
}

// Behind reports whether a cached object is older than our own last write of it.
func (w *Writes) Behind(gvk schema.GroupVersionKind, cached client.Object) bool {
	ref := Ref{gvk, client.ObjectKeyFromObject(cached)}
	w.mu.Lock()
	defer w.mu.Unlock()
	version, ok := w.versions[ref]
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), version)
	if err == nil && order < 0 {
		return true
	}
	delete(w.versions, ref)
	return false
}

// Forget drops what is remembered of an object that is gone.
func (w *Writes) Forget(gvk schema.GroupVersionKind, key client.ObjectKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.versions, Ref{gvk, key})
}
