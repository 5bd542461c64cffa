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

// late makes a member fail once, and then answer late.
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

// After the loss of a quorum the last log position is compared with what is left: a time that is too late would report lost
// writes as safe.
func TestAnAnswerThatTookItsTimeSaysNothingOfWhatWasDecidedSince(t *testing.T) {
	w := &etcdtest.World{}
	target := formed(w, "a", "b", "c")
	for _, endpoint := range target.Endpoints { // one of them leads
		l := &late{World: w, endpoint: endpoint, takes: 300 * time.Millisecond}
		probing(t, l.Dial, func(t *testing.T, p *etcd.Prober) {
			p.Watch(shop, target)
			time.Sleep(900 * time.Millisecond) // looks without an answer, while it is late, and with it
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
