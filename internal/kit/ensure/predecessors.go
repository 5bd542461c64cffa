// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// predecessorKept is how long an object that was replaced is remembered for one that does
// not come, as its owner has gone meanwhile.
const predecessorKept = time.Hour

// predecessors remembers objects that were deleted to be recreated: a pod template that is
// pinned, and values of others, pass to the next one. A process that ends in between takes
// that with it; what is declared then begins again.
type predecessors struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	left  map[types.UID]predecessor
}

type predecessor struct {
	object client.Object
	since  time.Time
}

func newPredecessors(clock clock.PassiveClock) *predecessors {
	return &predecessors{clock: clock, left: map[types.UID]predecessor{}}
}

func (p *predecessors) remember(child types.UID, object client.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	for each, old := range p.left {
		if now.Sub(old.since) > predecessorKept {
			delete(p.left, each)
		}
	}
	p.left[child] = predecessor{object, now}
}

// of gives the object whose place a child takes, nil for none.
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
