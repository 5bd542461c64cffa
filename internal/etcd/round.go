// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// patience is for a member that did not answer the last time. It has as long as any other
// to do so, but the others' looks do not wait for it: a member on a node that is gone
// would have each take all of the two seconds.
const patience = 100 * time.Millisecond

// looks is what one look leaves to the next.
type looks struct {
	store Store
	// asked are the questions under way, and failing the last errors, by endpoint.
	asked   map[string]*question
	failing map[string]error
}

// question is one to a member.
type question struct {
	answered chan struct{}
	status   MemberStatus
}

// round asks each endpoint once.
type round struct {
	*looks
	put       func(endpoint string) *question
	endpoints map[string]bool
}

func (c *cluster) begin(ctx context.Context, store Store) *round {
	if c.looks.store != store {
		c.looks = looks{store: store, asked: map[string]*question{}, failing: map[string]error{}}
	}
	put := func(endpoint string) *question {
		q, asked := &question{answered: make(chan struct{})}, c.clock.Now()
		c.running.Go(func() {
			defer close(q.answered)
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			status, err := store.Status(ctx, endpoint)
			status.Asked, status.Err = asked, err
			q.status = status
		})
		return q
	}
	return &round{looks: &c.looks, put: put, endpoints: map[string]bool{}}
}

// ask asks endpoints that have not been asked in this round, nor still are since another.
func (r *round) ask(endpoints ...string) {
	for _, endpoint := range endpoints {
		r.endpoints[endpoint] = true
		if r.asked[endpoint] == nil {
			r.asked[endpoint] = r.put(endpoint)
		}
	}
}

// wait collects what was answered.
func (r *round) wait(clock clock.WithTicker) map[string]MemberStatus {
	for endpoint := range r.endpoints {
		if r.failing[endpoint] == nil {
			<-r.asked[endpoint].answered
		}
	}
	r.linger(clock.NewTimer(patience))
	out := map[string]MemberStatus{}
	for endpoint := range r.endpoints {
		out[endpoint] = r.take(endpoint)
	}
	for endpoint := range r.asked {
		if !r.endpoints[endpoint] {
			delete(r.asked, endpoint)
		}
	}
	return out
}

// linger waits for those that failed the last time.
func (r *round) linger(timer clock.Timer) {
	defer timer.Stop()
	for endpoint := range r.endpoints {
		select {
		case <-r.asked[endpoint].answered:
		case <-timer.C():
			return
		}
	}
}

// take takes an answer if it is there.
func (r *round) take(endpoint string) MemberStatus {
	select {
	case <-r.asked[endpoint].answered:
		status := r.asked[endpoint].status
		delete(r.asked, endpoint)
		r.failing[endpoint] = status.Err
		return status
	default:
		return MemberStatus{Err: r.failing[endpoint]}
	}
}
