// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// predecessorKept is how long a replaced object is remembered. It limits the memory if the owner is deleted before the
// new object is created.
const predecessorKept = time.Hour

// predecessors remembers objects that opcrew deleted in order to replace them. Their pinned pod templates and the
// values of other managers are copied to the new objects. If the process ends in between, the new object is created as
// declared.
type predecessors struct {
	mu   sync.Mutex
	left map[types.UID]predecessor
}

type predecessor struct {
	object client.Object
	since  time.Time
}

func (p *predecessors) remember(child types.UID, object client.Object, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == nil {
		p.left = map[types.UID]predecessor{}
	}
	for each, old := range p.left {
		if now.Sub(old.since) > predecessorKept {
			delete(p.left, each)
		}
	}
	p.left[child] = predecessor{object, now}
}

// of returns the deleted object that a new child replaces; nil if there is none.
func (p *predecessors) of(child types.UID) client.Object {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left[child].object
}

func (p *predecessors) forget(child types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.left, child)
}
