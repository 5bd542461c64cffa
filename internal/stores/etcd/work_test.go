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

const mebi = 1 << 20

// defragmentation returns the work that defragments one member and sends its error to a channel.
func defragmentation(endpoint string, ended chan<- error) etcd.Work {
	return etcd.Work{Name: "defragmentation", Limit: time.Minute, Do: func(ctx context.Context, store etcd.Store) {
		ended <- store.Defragment(ctx, endpoint)
	}}
}

func TestADefragmentationRunsBesideTheLooksAndOneAtATime(t *testing.T) {
	w := &etcdtest.World{DefragmentationTakes: 20 * time.Second}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w, "a", "b", "c"))
		if err := w.Write("ta", 10, mebi, 9*mebi); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ended := make(chan error, 1)
		work := defragmentation("http://b:2379", ended)
		if err := p.Begin(shop, work); err != nil {
			t.Fatal(err)
		}
		if err := p.Begin(shop, work); !errors.Is(err, etcd.ErrBusy) || view(t, p, shop).Work != "defragmentation" {
			t.Errorf("expected no second work beside the first, got %v, and the view to tell of %q", err, view(t, p, shop).Work)
		}
		time.Sleep(10 * time.Second)
		v := view(t, p, shop)
		if b, _ := v.ByName("b"); v.Healthy(b.ID) || v.HealthyVoters() != 2 || time.Since(v.At) > 3*time.Second {
			t.Errorf("expected a fresh look that shows b busy, got one of %s: %+v", v.At, v)
		}
		events(p)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if v = view(t, p, shop); v.Work != "" || v.Stale || v.HealthyVoters() != 3 || events(p)["shop/db"] == 0 {
			t.Errorf("expected it to have ended, to be seen, and an event, got %+v", v)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if bad := w.Violations(); len(bad) > 0 {
		t.Error(bad)
	}
}

func TestWorkEndsWhenItsClusterIsForgotten(t *testing.T) {
	w := &etcdtest.World{DefragmentationTakes: time.Hour}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		ended := make(chan error, 1)
		if err := p.Begin(shop, defragmentation("http://a:2379", ended)); !errors.Is(err, etcd.ErrNotWatched) {
			t.Errorf("expected nothing to begin on a cluster that is not watched, got %v", err)
		}
		p.Watch(shop, formed(w, "a"))
		synctest.Wait()
		if err := p.Begin(shop, defragmentation("http://a:2379", ended)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begun := time.Now()
		p.Forget(shop)
		select {
		case err := <-ended:
			t.Logf("it ended with %v", err) // the member may still be defragmenting its data
		case <-time.After(time.Hour):
		}
		if time.Since(begun) > time.Second {
			t.Errorf("expected it to be given up, it took %s", time.Since(begun))
		}
	})
}

func TestAMemberThatIsMostlyFreeMattersAndItsSizeDoesNot(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		target := formed(w, "a", "b", "c")
		target.Waste = etcd.Waste{Percent: 50, Size: 8 * mebi}
		p.Watch(shop, target)
		synctest.Wait()
		write := func(history int64) {
			t.Helper()
			if err := w.Write("ta", 100, 0, history); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
		}
		events(p)
		write(10 * mebi)
		if got := events(p); len(got) > 0 {
			t.Errorf("expected no event for a size, got %v", got)
		}
		compact := func(ctx context.Context, store etcd.Store) error { return store.Compact(ctx, 90) }
		if err := p.Do(t.Context(), shop, compact); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if got := view(t, p, shop).Wasteful; len(got) != 3 || events(p)["shop/db"] == 0 {
			t.Errorf("expected an event for three members that are mostly free, got %v", got)
		}
	})
}
