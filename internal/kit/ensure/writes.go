// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// writes remembers the version of each object after opcrew's last write, until the cache shows that version. A decision
// on an older version would repeat the write, so callers wait for the event instead. Kubernetes' own controllers do the
// same since 1.36 (KEP-5647).
type writes struct {
	mu       sync.Mutex
	versions map[Ref]string
}

func (w *writes) record(ref Ref, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.versions == nil {
		w.versions = map[Ref]string{}
	}
	w.versions[ref] = version
}

func (w *writes) behind(ref Ref, cached string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	version, ok := w.versions[ref]
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached, version)
	if err == nil && order < 0 {
		return true
	}
	delete(w.versions, ref)
	return false
}

func (w *writes) forget(ref Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.versions, ref)
}
