// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
)

var shop = types.NamespacedName{Namespace: "shop", Name: "db"}

func peerURL(name string) string { return "http://" + name + ":2380" }

func process(name string, existing bool, initial ...string) etcdtest.Process {
	var flag []string
	for _, n := range initial {
		flag = append(flag, n+"="+peerURL(n))
	}
	return etcdtest.Process{
		Name: name, PeerURL: peerURL(name), ClientURL: "http://" + name + ":2379", Volume: name,
		InitialCluster: strings.Join(flag, ","), Token: "t" + initial[0], Existing: existing,
	}
}

func formed(w *etcdtest.World, names ...string) etcd.Target {
	for _, name := range names {
		w.Run(process(name, false, names...))
	}
	return target(names...)
}

func target(names ...string) etcd.Target {
	var out etcd.Target
	for _, name := range names {
		out.Endpoints = append(out.Endpoints, "http://"+name+":2379")
	}
	return out
}

// probing runs a prober in a bubble of its own time, and ends it.
func probing(t *testing.T, dial etcd.Dialer, do func(*testing.T, *etcd.Prober)) {
	synctest.Test(t, func(t *testing.T) {
		p := etcd.NewProber(dial, clock.RealClock{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Start(ctx) }()
		do(t, p)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func view(t *testing.T, p *etcd.Prober, key types.NamespacedName) etcd.View {
	t.Helper()
	v, ok := p.View(key)
	if !ok {
		t.Fatalf("expected %s to have been looked at", key)
	}
	return v
}

// told counts the events there have been since it was last asked.
func told(p *etcd.Prober) map[string]int {
	synctest.Wait()
	out := map[string]int{}
	for {
		select {
		case e := <-p.Events():
			out[e.Object.GetNamespace()+"/"+e.Object.GetName()]++
		default:
			return out
		}
	}
}

// counted counts the calls to a world, and how many connections there have been.
type counted struct {
	*etcdtest.World
	dialled, closed, lists, versions atomic.Int64
}

type countedStore struct {
	etcd.Store
	*counted
}

func (c *counted) Dial(target etcd.Target) (etcd.Store, error) {
	c.dialled.Add(1)
	store, err := c.World.Dial(target)
	return &countedStore{store, c}, err
}

func (s *countedStore) Members(ctx context.Context) (uint64, []etcd.Member, error) {
	s.lists.Add(1)
	return s.Store.Members(ctx)
}

func (s *countedStore) ClusterVersion(ctx context.Context, endpoint string) (string, error) {
	s.versions.Add(1)
	return s.Store.ClusterVersion(ctx, endpoint)
}

func (s *countedStore) Close() error {
	s.closed.Add(1)
	return s.Store.Close()
}

func TestAClusterAtRestIsLookedAtEveryTwoSecondsAndNobodyIsTold(t *testing.T) {
	w := &counted{World: &etcdtest.World{}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w.World, "a", "b", "c"))
		if got := told(p); got["shop/db"] != 1 {
			t.Errorf("expected to be told of the first look, got %v", got)
		}
		if v := view(t, p, shop); v.Err != nil || v.HealthyVoters() != 3 || v.Absent != nil || v.Stale {
			t.Errorf("expected three healthy members, got %+v", v)
		}
		time.Sleep(20 * time.Second)
		if got := told(p); len(got) != 0 || w.lists.Load() != 11 || w.dialled.Load() != 1 {
			t.Errorf("expected 11 looks on one connection and no event, got %d on %d and %v", w.lists.Load(), w.dialled.Load(), got)
		}
		if w.versions.Load() != 1 {
			t.Errorf("expected to ask once what the cluster speaks, got %d times", w.versions.Load())
		}
	})
}

func TestWhatHappensToAMemberIsToldOnceAndThenLookedAtMoreOften(t *testing.T) {
	w := &counted{World: &etcdtest.World{}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w.World, "a", "b", "c"))
		told(p)
		w.Stop("c")
		p.Poke(shop)
		if got := told(p); got["shop/db"] != 1 {
			t.Errorf("expected to be told at once after a poke, got %v", got)
		}
		if v := view(t, p, shop); v.HealthyVoters() != 2 || !v.HasQuorum() {
			t.Errorf("expected two healthy members, got %+v", v)
		}
		before := w.lists.Load()
		time.Sleep(time.Second)
		if got := told(p); len(got) != 0 || w.lists.Load() != before+4 {
			t.Errorf("expected 4 looks and no event, got %d and %v", w.lists.Load()-before, got)
		}
		w.Run(process("c", true, "a", "b", "c"))
		time.Sleep(250 * time.Millisecond)
		if got := told(p); got["shop/db"] != 1 {
			t.Errorf("expected to be told that it is back, got %v", got)
		}
	})
}

func TestThatTheMembersAgreeOnANewerVersionIsAwaitedAndTold(t *testing.T) {
	w := &counted{World: &etcdtest.World{VersionLooks: 4}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		at := formed(w.World, "a", "b", "c")
		p.Watch(shop, at)
		time.Sleep(5 * time.Second)
		told(p)
		if v := view(t, p, shop); v.ClusterVersion != "3.6.0" {
			t.Errorf("expected to see that the cluster speaks 3.6.0, got %+v", v)
		}
		before := w.versions.Load()
		for _, name := range []string{"a", "b", "c"} {
			time.Sleep(5 * time.Second)
			told(p)
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
		told(p)
		time.Sleep(time.Second)
		if got, v := told(p), view(t, p, shop); got["shop/db"] != 1 || v.ClusterVersion != "3.7.0" {
			t.Errorf("expected to be told within a second that the cluster speaks 3.7.0, got %v and %q", got, v.ClusterVersion)
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
		told(p)
		w.Stop("b")
		w.Stop("c")
		time.Sleep(5 * time.Second)
		told(p)
		if v := view(t, p, shop); v.Err == nil || v.ClusterVersion != "3.6.0" {
			t.Errorf("expected the version to be known without a quorum, got %+v", v)
		}
		w.Stop("a")
		other := process("a", false, "a")
		other.Volume, other.Token, other.Version = "new", "new", "3.7.3"
		w.Break(etcdtest.Fault{Call: "ClusterVersion", Err: errors.New("broken"), Times: 100})
		w.Run(other)
		time.Sleep(5 * time.Second)
		told(p)
		if v := view(t, p, shop); v.Err != nil || v.ClusterVersion != "" || v.VersionErr == nil {
			t.Errorf("expected nothing to be known of another cluster, and why, got %+v", v)
		}
		w.Mend()
		time.Sleep(5 * time.Second)
		told(p)
		if v := view(t, p, shop); v.ClusterVersion != "3.7.0" || v.VersionErr != nil {
			t.Errorf("expected it to be asked again, got %+v", v)
		}
	})
}

func TestWithoutAQuorumOneSeesWhoIsUp(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w, "a", "b", "c"))
		told(p)
		w.Stop("b")
		w.Stop("c")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		v := view(t, p, shop)
		if !errors.Is(v.Err, context.DeadlineExceeded) || v.HasQuorum() || len(v.Members) != 3 || v.Quorum() != 2 {
			t.Errorf("expected the members of the last list and why there is none now, got %+v", v)
		}
		for _, m := range v.Members {
			if up := v.Status[m.ID].Err == nil; up != (m.Name == "a") || v.Healthy(m.ID) {
				t.Errorf("expected %s to be up: %t, got %+v", m.Name, m.Name == "a", v.Status[m.ID])
			}
		}
		told(p)
		time.Sleep(time.Minute)
		if got := told(p); len(got) != 0 {
			t.Errorf("expected not to be told again, got %v", got)
		}
	})
}

func TestAClusterThatHangsHoldsUpNoOther(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		other := types.NamespacedName{Namespace: "shop", Name: "other"}
		p.Watch(shop, formed(w, "a"))
		p.Watch(other, formed(w, "x"))
		told(p)
		w.Hang("a")
		p.Poke(shop)
		time.Sleep(time.Second)
		w.Stop("x")
		p.Poke(other)
		if got := told(p); got["shop/other"] != 1 || got["shop/db"] != 0 {
			t.Errorf("expected to be told of the other one only, got %v", got)
		}
		time.Sleep(time.Second)
		if got := told(p); got["shop/db"] != 1 || view(t, p, shop).Err == nil {
			t.Errorf("expected to be told after two seconds that it hangs, got %v", got)
		}
	})
}

func TestAMemberThatHangsIsWaitedForOnce(t *testing.T) {
	w := &counted{World: &etcdtest.World{}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w.World, "a", "b", "c"))
		told(p)
		w.Hang("c")
		p.Poke(shop)
		time.Sleep(2 * time.Second)
		if got, v := told(p), view(t, p, shop); got["shop/db"] != 1 || v.HealthyVoters() != 2 {
			t.Errorf("expected to be told of two healthy members, got %v of %+v", got, v)
		}
		before := w.lists.Load()
		time.Sleep(7 * time.Second)
		if w.lists.Load() < before+19 {
			t.Errorf("expected a look every 350 ms, got %d in seven seconds", w.lists.Load()-before)
		}
		w.Wake("c")
		time.Sleep(2400 * time.Millisecond)
		synctest.Wait()
		if v := view(t, p, shop); v.HealthyVoters() != 3 {
			t.Errorf("expected to see that it answers again, got %+v", v)
		}
	})
}

func TestAStepMakesTheViewStaleUntilTheLookAfterIt(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w, "a"))
		told(p)
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
		told(p)
		if v := view(t, p, shop); v.Stale || len(v.Learners()) != 1 {
			t.Errorf("expected to see the learner, got %+v", v)
		}
	})
}

func TestAStepHasTwoSeconds(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w, "a"))
		told(p)
		w.Break(etcdtest.Fault{Call: "AddLearner", After: true})
		begun := time.Now()
		err := p.Do(t.Context(), shop, func(ctx context.Context, store etcd.Store) error {
			_, err := store.AddLearner(ctx, peerURL("b"))
			return err
		})
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took != 2*time.Second {
			t.Errorf("expected the step to be given up after two seconds, got %v after %s", err, took)
		}
		told(p)
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
		told(p)
		if w.dialled.Load() != 1 {
			t.Errorf("expected to dial once for the same target, got %d", w.dialled.Load())
		}
		err := p.Do(t.Context(), shop, func(ctx context.Context, store etcd.Store) error {
			p.Watch(shop, target("a", "b"))
			synctest.Wait()
			if w.dialled.Load() != 2 || w.closed.Load() != 0 {
				t.Errorf("expected to dial anew and to close nothing, got %d and %d", w.dialled.Load(), w.closed.Load())
			}
			_, err := store.AddLearner(ctx, peerURL("b"))
			return err
		})
		told(p)
		if err != nil || w.closed.Load() != 1 {
			t.Errorf("expected the old connection to be closed after the step, got %d, %v", w.closed.Load(), err)
		}
		at = target("a", "b")
		at.Generation = "2"
		p.Watch(shop, at)
		told(p)
		if w.dialled.Load() != 3 || w.closed.Load() != 2 {
			t.Errorf("expected another generation to be dialled, got %d and %d", w.dialled.Load(), w.closed.Load())
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
		told(p)
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
		told(p)
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

// late has one member fail once, and then take its time to answer.
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

// What a cluster had decided is compared, when its quorum is gone, with what is left: a time that is too late would
// promise of writes that they are there which are lost.
func TestAnAnswerThatTookItsTimeSaysNothingOfWhatWasDecidedSince(t *testing.T) {
	w := &etcdtest.World{}
	target := formed(w, "a", "b", "c")
	for _, endpoint := range target.Endpoints { // one of them leads
		l := &late{World: w, endpoint: endpoint, takes: 300 * time.Millisecond}
		probing(t, l.Dial, func(t *testing.T, p *etcd.Prober) {
			p.Watch(shop, target)
			time.Sleep(900 * time.Millisecond) // a look without an answer, one without it yet, and one with that
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
