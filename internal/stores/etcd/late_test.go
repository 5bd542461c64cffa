// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
)

// late is a dialer whose connections make one member fail once and then answer late.
type late struct {
	*etcdtest.World
	endpoint string
	takes    time.Duration
	asked    []time.Time
}

type lateStore struct {
	etcd.Store
	*late
}

func (l *late) Dial(target etcd.Target) (etcd.Store, error) {
	store, err := l.World.Dial(target)
	return &lateStore{store, l}, err
}

func (s *lateStore) Status(ctx context.Context, endpoint string) (etcd.MemberStatus, error) {
	if endpoint != s.endpoint {
		return s.Store.Status(ctx, endpoint)
	}
	s.asked = append(s.asked, time.Now())
	switch len(s.asked) {
	case 1:
		return etcd.MemberStatus{}, errors.New("connection refused")
	case 2:
		status, err := s.Store.Status(ctx, endpoint)
		time.Sleep(s.takes)
		return status, err
	}
	return s.Store.Status(ctx, endpoint)
}

// After a loss of the quorum, the last known log position shows which writes may be lost. If the time recorded for this
// position were too late, lost writes would be reported as safe.
func TestAnAnswerThatTookItsTimeSaysNothingOfWhatWasDecidedSince(t *testing.T) {
	w := &etcdtest.World{}
	target := formed(w, "a", "b", "c")
	for _, endpoint := range target.Endpoints { // one of the members is the leader
		l := &late{World: w, endpoint: endpoint, takes: 300 * time.Millisecond}
		probing(t, l.Dial, func(t *testing.T, p *etcd.Prober) {
			p.Watch(shop, target)
			time.Sleep(900 * time.Millisecond) // time for reads before, during and after the late answer
			synctest.Wait()
			v := view(t, p, shop)
			if len(l.asked) != 2 || !v.At.After(l.asked[1]) || v.HealthyVoters() != 3 {
				t.Fatalf("expected a look with an answer to an earlier question, got %+v, asked %v", v, l.asked)
			}
			if v.Decided.At.After(l.asked[1]) {
				t.Errorf("expected what was decided to be dated by the question, %s, got %s", l.asked[1], v.Decided.At)
			}
		})
	}
}
