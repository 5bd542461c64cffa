// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"
)

// patience is for a process that did not answer the last time. It has as long as any other
// to do so, but the others' looks do not wait for it: a process on a node that is gone
// would have each take all of the two seconds.
const patience = 100 * time.Millisecond

// looks is what one look leaves to the next.
type looks struct {
	store Store
	// asked are the questions under way, and failing the last errors, by address.
	asked   map[string]*question
	failing map[string]error
}

// question is one to a process.
type question struct {
	answered chan struct{}
	status   NodeStatus
	// old tells that it was put by an earlier look: what it brings may be older than a step
	// that has been taken since.
	old bool
}

// errLate tells that a process answers again, but to an earlier look.
var errLate = errors.New("it answers again, and is asked anew")

// round asks each address once.
type round struct {
	*looks
	put       func(address string) *question
	addresses map[string]bool
}

func (c *cluster) begin(ctx context.Context, store Store) *round {
	if c.looks.store != store {
		c.looks = looks{store: store, asked: map[string]*question{}, failing: map[string]error{}}
	}
	put := func(address string) *question {
		q := &question{answered: make(chan struct{})}
		c.running.Go(func() {
			defer close(q.answered)
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			status, err := store.Status(ctx, address)
			status.Err = err
			q.status = status
		})
		return q
	}
	return &round{looks: &c.looks, put: put, addresses: map[string]bool{}}
}

// ask asks addresses that have not been asked in this round, nor still are since another.
func (r *round) ask(addresses ...string) {
	for _, address := range addresses {
		r.addresses[address] = true
		if r.asked[address] == nil {
			r.asked[address] = r.put(address)
		}
	}
}

// wait collects what was answered.
func (r *round) wait(clock clock.WithTicker) map[string]NodeStatus {
	for address := range r.addresses {
		if r.failing[address] == nil {
			<-r.asked[address].answered
		}
	}
	r.linger(clock.NewTimer(patience))
	out := map[string]NodeStatus{}
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

// linger waits for those that failed the last time.
func (r *round) linger(timer clock.Timer) {
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
func (r *round) take(address string) NodeStatus {
	select {
	case <-r.asked[address].answered:
		question := r.asked[address]
		delete(r.asked, address)
		if question.old && question.status.Err == nil {
			question.status = NodeStatus{Err: errLate}
		}
		r.failing[address] = question.status.Err
		return question.status
	default:
		return NodeStatus{Err: r.failing[address]}
	}
}
