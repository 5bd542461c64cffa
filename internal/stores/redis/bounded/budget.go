// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"fmt"
	"sync"
)

// Budget limits the memory of all answers that are being received at the same time. Without it, many servers could each
// send an answer of the allowed size and together exhaust the operator's memory.
type Budget struct {
	mu   sync.Mutex
	left int64
}

// NewBudget returns a budget of the given number of bytes.
func NewBudget(bytes int64) *Budget { return &Budget{left: bytes} }

// take takes n bytes from the budget and returns true. If fewer bytes are left, it takes none and returns false.
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
	// free is the size, in bytes, up to which an answer is received even if the budget is used up. INFO and CLUSTER
	// NODES of a hundred servers are smaller.
	free = 32 << 10
	// portion is how many bytes the account of one connection takes from the budget in one call.
	portion = 64 << 10
	// perElement is the memory, in bytes, that the client library needs for each list element in addition to its text.
	perElement = 48
)

// BusyError reports that an answer was not received because answers for other clusters use the whole budget. The next
// attempt may succeed.
type BusyError struct{ Bytes int64 }

func (e *BusyError) Error() string {
	return fmt.Sprintf("opcrew did not receive an answer of more than %d bytes, because other clusters send large answers at the same time; opcrew retries", e.Bytes)
}

// account records how many bytes the answers on one connection have taken from the budget.
type account struct {
	budget *Budget
	taken  int64
}

// cover takes more bytes from the budget if an answer needs more than the account of its connection has.
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
