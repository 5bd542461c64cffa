// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

// patience is how long a read waits for an address that failed in the previous read. The request itself runs until
// CallTimeout. If each read waited for CallTimeout, an address on a lost node would slow down all reads.
const patience = 100 * time.Millisecond

// Answer is what one address returned: a value or an error.
type Answer[A any] struct {
	Value A
	Err   error
}

// Rounds queries many addresses concurrently. If an address does not answer during a read, Rounds keeps the request for
// the next read.
type Rounds[A any] struct {
	clock clock.WithTicker
	run   func(func())
	// late, if set, is the error that replaces a successful answer that arrives after the end of the read that sent the
	// request. A step may have changed the store since the request, so such an answer may be outdated.
	late  error
	store Store
	// asked holds the running request of each address. failing holds the last error of each address.
	asked   map[string]*question[A]
	failing map[string]error
}

type question[A any] struct {
	answered chan struct{}
	answer   Answer[A]
	old      bool
}

// NewRounds returns the Rounds of a cluster. If late is set, it is the error that replaces a successful answer that
// arrives after the end of the read that sent the request. The next read then queries the address again.
func NewRounds[A, T, V any, S Store](c *Cluster[T, V, S], late error) *Rounds[A] {
	return &Rounds[A]{clock: c.Clock(), run: c.Go, late: late}
}

// Round holds the requests of one read.
type Round[A any] struct {
	*Rounds[A]
	ctx       context.Context
	ask       func(ctx context.Context, address string) (A, error)
	addresses map[string]bool
}

// Begin starts a read. If the connection to the store is a new one, Begin forgets the requests of the old connection.
func (r *Rounds[A]) Begin(ctx context.Context, store Store, ask func(ctx context.Context, address string) (A, error)) *Round[A] {
	if r.store != store {
		r.store, r.asked, r.failing = store, map[string]*question[A]{}, map[string]error{}
	}
	return &Round[A]{Rounds: r, ctx: ctx, ask: ask, addresses: map[string]bool{}}
}

// Ask sends a request to each address, except to those that have a running request.
func (r *Round[A]) Ask(addresses ...string) {
	for _, address := range addresses {
		r.addresses[address] = true
		if r.asked[address] == nil {
			r.asked[address] = r.put(address)
		}
	}
}

func (r *Round[A]) put(address string) *question[A] {
	q := &question[A]{answered: make(chan struct{})}
	r.run(func() {
		defer close(q.answered)
		// A panic, such as on a malformed response, becomes the error of this address.
		defer func() {
			if cause := recover(); cause != nil {
				q.answer.Err = fmt.Errorf("the response cannot be read: %v", cause)
			}
		}()
		ctx, cancel := context.WithTimeout(r.ctx, CallTimeout)
		defer cancel()
		q.answer.Value, q.answer.Err = r.ask(ctx, address)
	})
	return q
}

// Wait returns the answers by address. For an address that has not answered yet, Wait returns the error of the previous
// read.
func (r *Round[A]) Wait() map[string]Answer[A] {
	for address := range r.addresses {
		if r.failing[address] == nil {
			<-r.asked[address].answered
		}
	}
	r.linger(r.clock.NewTimer(patience))
	out := map[string]Answer[A]{}
	for address := range r.addresses {
		out[address] = r.take(address)
	}
	for address, question := range r.asked {
		question.old = true
		if !r.addresses[address] {
			delete(r.asked, address)
		}
	}
	return out
}

// linger waits until all addresses have answered, or until the timer expires.
func (r *Round[A]) linger(timer clock.Timer) {
	defer timer.Stop()
	for address := range r.addresses {
		select {
		case <-r.asked[address].answered:
		case <-timer.C():
			return
		}
	}
}

// take returns the answer of an address. If there is no answer yet, take returns the error of the previous read.
func (r *Round[A]) take(address string) Answer[A] {
	q := r.asked[address]
	select {
	case <-q.answered:
		delete(r.asked, address)
		if q.old && r.late != nil && q.answer.Err == nil {
			q.answer = Answer[A]{Err: r.late}
		}
		r.failing[address] = q.answer.Err
		return q.answer
	default:
		return Answer[A]{Err: r.failing[address]}
	}
}
