// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
)

func TestAClusterAtRestIsLookedAtEveryTwoSecondsWithoutEvents(t *testing.T) {
	w := &counted{World: &etcdtest.World{}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w.World, "a", "b", "c"))
		if got := events(p); got["shop/db"] != 1 {
			t.Errorf("expected an event for the first look, got %v", got)
		}
		if v := view(t, p, shop); v.Err != nil || v.HealthyVoters() != 3 || v.Absent != nil || v.Stale {
			t.Errorf("expected three healthy members, got %+v", v)
		}
		time.Sleep(20 * time.Second)
		if got := events(p); len(got) != 0 || w.lists.Load() != 11 || w.dialled.Load() != 1 {
			t.Errorf("expected 11 looks on one connection and no event, got %d on %d and %v", w.lists.Load(), w.dialled.Load(), got)
		}
		if w.versions.Load() != 1 {
			t.Errorf("expected to ask once what the cluster speaks, got %d times", w.versions.Load())
		}
	})
}

func TestAChangeOfAMemberIsReportedOnceAndThenLookedAtMoreOften(t *testing.T) {
	w := &counted{World: &etcdtest.World{}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w.World, "a", "b", "c"))
		events(p)
		w.Stop("c")
		p.Poke(shop)
		if got := events(p); got["shop/db"] != 1 {
			t.Errorf("expected an event at once after a poke, got %v", got)
		}
		if v := view(t, p, shop); v.HealthyVoters() != 2 || !v.HasQuorum() {
			t.Errorf("expected two healthy members, got %+v", v)
		}
		before := w.lists.Load()
		time.Sleep(time.Second)
		if got := events(p); len(got) != 0 || w.lists.Load() != before+4 {
			t.Errorf("expected 4 looks and no event, got %d and %v", w.lists.Load()-before, got)
		}
		w.Run(process("c", true, "a", "b", "c"))
		time.Sleep(250 * time.Millisecond)
		if got := events(p); got["shop/db"] != 1 {
			t.Errorf("expected an event as it is back, got %v", got)
		}
	})
}

func TestAnEventReportsThatTheMembersAgreeOnANewerVersion(t *testing.T) {
	w := &counted{World: &etcdtest.World{VersionLooks: 4}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		at := formed(w.World, "a", "b", "c")
		p.Watch(shop, at)
		time.Sleep(5 * time.Second)
		events(p)
		if v := view(t, p, shop); v.ClusterVersion != "3.6.0" {
			t.Errorf("expected to see that the cluster speaks 3.6.0, got %+v", v)
		}
		before := w.versions.Load()
		for _, name := range []string{"a", "b", "c"} {
			time.Sleep(5 * time.Second)
			events(p)
			if v := view(t, p, shop); v.ClusterVersion != "3.6.0" || w.versions.Load() != before {
				t.Errorf("expected nothing to be asked while one is left that runs 3.6, got %q after %d questions", v.ClusterVersion, w.versions.Load()-before)
			}
			newer := process(name, true, "a", "b", "c")
			newer.Version = "3.7.3"
			w.Run(newer)
		}
		p.Poke(shop)
		synctest.Wait()
		if v := view(t, p, shop); v.ClusterVersion != "3.6.0" {
			t.Errorf("expected to see that the members have not agreed yet, got %q", v.ClusterVersion)
		}
		events(p)
		time.Sleep(time.Second)
		if got, v := events(p), view(t, p, shop); got["shop/db"] != 1 || v.ClusterVersion != "3.7.0" {
			t.Errorf("expected an event within a second as the cluster speaks 3.7.0, got %v and %q", got, v.ClusterVersion)
		}
		before = w.versions.Load()
		time.Sleep(time.Minute)
		if w.versions.Load() != before {
			t.Errorf("expected nothing to be asked after that, got %d questions", w.versions.Load()-before)
		}
	})
}

func TestWhatTheClusterSpeaksIsNotForgottenWhileItDoesNotAnswer(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w, "a", "b", "c"))
		events(p)
		w.Stop("b")
		w.Stop("c")
		time.Sleep(5 * time.Second)
		events(p)
		if v := view(t, p, shop); v.Err == nil || v.ClusterVersion != "3.6.0" {
			t.Errorf("expected the version to be known without a quorum, got %+v", v)
		}
		w.Stop("a")
		other := process("a", false, "a")
		other.Volume, other.Token, other.Version = "new", "new", "3.7.3"
		w.Break(etcdtest.Fault{Call: "ClusterVersion", Err: errors.New("broken"), Times: 100})
		w.Run(other)
		time.Sleep(5 * time.Second)
		events(p)
		if v := view(t, p, shop); v.Err != nil || v.ClusterVersion != "" || v.VersionErr == nil {
			t.Errorf("expected nothing to be known of another cluster, and why, got %+v", v)
		}
		w.Mend()
		time.Sleep(5 * time.Second)
		events(p)
		if v := view(t, p, shop); v.ClusterVersion != "3.7.0" || v.VersionErr != nil {
			t.Errorf("expected it to be asked again, got %+v", v)
		}
	})
}

func TestAClusterThatIsForgottenIsNotLookedAt(t *testing.T) {
	w := &counted{World: &etcdtest.World{}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		step := func(context.Context, etcd.Store) error { return nil }
		if err := p.Do(t.Context(), shop, step); !errors.Is(err, etcd.ErrNotWatched) {
			t.Errorf("expected no step on what is not watched, got %v", err)
		}
		p.Watch(shop, formed(w.World, "a"))
		events(p)
		p.Forget(shop)
		synctest.Wait()
		lists := w.lists.Load()
		time.Sleep(time.Minute)
		if _, ok := p.View(shop); ok || w.lists.Load() != lists || w.closed.Load() != 1 {
			t.Errorf("expected nothing to be left, got %d looks and %d closed", w.lists.Load()-lists, w.closed.Load())
		}
		p.Poke(shop)
		p.Forget(shop)
	})
}

func TestWhatCannotBeDialledIsSaid(t *testing.T) {
	broken := fmt.Errorf("broken")
	dial := func(etcd.Target) (etcd.Store, error) { return nil, broken }
	probing(t, dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, target("a"))
		events(p)
		if v := view(t, p, shop); !errors.Is(v.Err, broken) {
			t.Errorf("expected the error, got %+v", v)
		}
		err := p.Do(t.Context(), shop, func(context.Context, etcd.Store) error { return nil })
		if !errors.Is(err, broken) {
			t.Errorf("expected the error, got %v", err)
		}
	})
}

func TestWatchedBeforeTheStartLooksThenAndByTheClockThatWasGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &counted{World: &etcdtest.World{}}
		clock := clocktesting.NewFakeClock(time.Unix(1000, 0))
		p := etcd.NewProber(w.Dial, clock, func(etcd.View) time.Duration { return time.Hour })
		p.Watch(shop, formed(w.World, "a"))
		synctest.Wait()
		if w.lists.Load() != 0 || !p.NeedLeaderElection() {
			t.Errorf("expected no look before the start, got %d", w.lists.Load())
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Start(ctx) }()
		synctest.Wait()
		clock.Step(59 * time.Minute)
		synctest.Wait()
		if w.lists.Load() != 1 || !view(t, p, shop).At.Equal(time.Unix(1000, 0)) {
			t.Errorf("expected one look, at the clock's time, got %d", w.lists.Load())
		}
		clock.Step(time.Minute)
		synctest.Wait()
		if w.lists.Load() != 2 {
			t.Errorf("expected a second look after an hour, got %d", w.lists.Load())
		}
		cancel()
		if err := <-ended; err != nil || w.closed.Load() != 1 {
			t.Errorf("expected the end to close the connection, got %v", err)
		}
		p.Watch(types.NamespacedName{Name: "late"}, target("b"))
		synctest.Wait()
		if w.dialled.Load() != 1 {
			t.Error("expected nothing to be dialled after the end")
		}
	})
}
