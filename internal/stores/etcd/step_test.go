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

func TestAStepMakesTheViewStaleUntilTheLookAfterIt(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w, "a"))
		events(p)
		err := p.Do(t.Context(), shop, func(ctx context.Context, store etcd.Store) error {
			p.Poke(shop)
			synctest.Wait()
			if !view(t, p, shop).Stale {
				t.Error("expected a look during the step to be stale")
			}
			_, err := store.AddLearner(ctx, peerURL("b"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if v := view(t, p, shop); !v.Stale {
			t.Errorf("expected the view to be stale, got %+v", v)
		}
		events(p)
		if v := view(t, p, shop); v.Stale || len(v.Learners()) != 1 {
			t.Errorf("expected to see the learner, got %+v", v)
		}
	})
}

func TestAStepHasTwoSeconds(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w, "a"))
		events(p)
		w.Break(etcdtest.Fault{Call: "AddLearner", After: true})
		begun := time.Now()
		err := p.Do(t.Context(), shop, func(ctx context.Context, store etcd.Store) error {
			_, err := store.AddLearner(ctx, peerURL("b"))
			return err
		})
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took != 2*time.Second {
			t.Errorf("expected the step to be given up after two seconds, got %v after %s", err, took)
		}
		events(p)
		if _, ok := view(t, p, shop).ByPeerURL(peerURL("b")); !ok {
			t.Error("expected to see that it was carried out all the same")
		}
	})
}

func TestAnotherTargetIsDialledOnceTheStepUnderWayIsOver(t *testing.T) {
	w := &counted{World: &etcdtest.World{}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		at := formed(w.World, "a")
		p.Watch(shop, at)
		p.Watch(shop, at)
		events(p)
		if w.dialled.Load() != 1 {
			t.Errorf("expected to dial once for the same target, got %d", w.dialled.Load())
		}
		err := p.Do(t.Context(), shop, func(ctx context.Context, store etcd.Store) error {
			p.Watch(shop, target("a", "b"))
			synctest.Wait()
			if w.dialled.Load() != 2 || w.closed.Load() != 0 {
				t.Errorf("expected to dial again and to close nothing, got %d and %d", w.dialled.Load(), w.closed.Load())
			}
			_, err := store.AddLearner(ctx, peerURL("b"))
			return err
		})
		events(p)
		if err != nil || w.closed.Load() != 1 {
			t.Errorf("expected the old connection to be closed after the step, got %d, %v", w.closed.Load(), err)
		}
		at = target("a", "b")
		at.Generation = "2"
		p.Watch(shop, at)
		events(p)
		if w.dialled.Load() != 3 || w.closed.Load() != 2 {
			t.Errorf("expected another generation to be dialled, got %d and %d", w.dialled.Load(), w.closed.Load())
		}
	})
}
