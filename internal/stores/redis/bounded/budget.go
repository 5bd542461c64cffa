// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"fmt"
	"sync"
)

// Budget bounds the memory of all answers that are being received together: many servers could each send one of the size
// that is allowed.
type Budget struct {
	mu   sync.Mutex
	left int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{left: bytes} }

// take reports whether so many bytes were left, and if so takes them.
func (b *Budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *Budget) giveBack(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}

const (
	// free is the size of an answer that is always received: INFO and CLUSTER NODES of a hundred servers have less.
	free = 32 << 10
	// portion is how much is taken at a time.
	portion = 64 << 10
	// perElement is what the library needs for an element, besides its bytes.
	perElement = 48
)

// BusyError reports that other clusters send so much that this answer was not received. The next attempt may succeed.
type BusyError struct{ Bytes int64 }

func (e *BusyError) Error() string {
	return fmt.Sprintf("opcrew did not receive an answer of more than %d bytes, because other clusters send large answers at the same time; opcrew retries", e.Bytes)
}

// account is what the answers on one connection have taken.
type account struct {
	budget *Budget
	taken  int64
}

// cover takes what is missing for an answer that needs so many bytes.
func (a *account) cover(needs int64) error {
	if needs -= free; needs <= a.taken {
		return nil
	}
	more := (needs - a.taken + portion - 1) / portion * portion
	if !a.budget.take(more) {
		return &BusyError{Bytes: a.taken + free}
	}
	a.taken += more
	return nil
}

func (a *account) settle() {
	if a.taken > 0 {
		a.budget.giveBack(a.taken)
		a.taken = 0
	}
}
