// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

// patience is for an address that did not answer the last time. It has CallTimeout to answer, but a look does not wait
// for it: an address on a node that is gone would make each look take all of CallTimeout.
const patience = 100 * time.Millisecond

// Answer is what one address answered, or why it did not.
type Answer[A any] struct {
	Value A
	Err   error
}

// Rounds asks addresses, all at the same time, and keeps between looks which have not answered.
type Rounds[A any] struct {
	clock clock.WithTicker
	run   func(func())
	// late, if set, replaces an answer to an earlier look, which may be older than a step that was taken since.
	late  error
	store Store
	// asked are the questions under way, and failing the last errors, by address.
	asked   map[string]*question[A]
	failing map[string]error
}

type question[A any] struct {
	answered chan struct{}
	answer   Answer[A]
	old      bool
}

// NewRounds returns the rounds of a cluster. With an error for late, an answer to the question of an earlier look
// counts as that error, and the address is asked again.
func NewRounds[A, T, V any, S Store](c *Cluster[T, V, S], late error) *Rounds[A] {
	return &Rounds[A]{clock: c.Clock(), run: c.Go, late: late}
}

// Round is the questions of one look.
type Round[A any] struct {
	*Rounds[A]
	ctx       context.Context
	ask       func(ctx context.Context, address string) (A, error)
	addresses map[string]bool
}

// Begin begins a round. With another store than before, questions under way are dropped.
func (r *Rounds[A]) Begin(ctx context.Context, store Store, ask func(ctx context.Context, address string) (A, error)) *Round[A] {
	if r.store != store {
		r.store, r.asked, r.failing = store, map[string]*question[A]{}, map[string]error{}
	}
	return &Round[A]{Rounds: r, ctx: ctx, ask: ask, addresses: map[string]bool{}}
}

// Ask asks the addresses to which no question is under way.
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
		// A panic, such as over a hostile answer, is an error of this address.
		defer func() {
			if cause := recover(); cause != nil {
				q.answer.Err = fmt.Errorf("its answer cannot be read: %v", cause)
			}
		}()
		ctx, cancel := context.WithTimeout(r.ctx, CallTimeout)
		defer cancel()
		q.answer.Value, q.answer.Err = r.ask(ctx, address)
	})
	return q
}

// Wait collects the answers by address. One that is late has the error of the last time.
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

// linger waits a little for those that failed the last time.
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

// take takes an answer if it is there.
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
