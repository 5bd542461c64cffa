// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// seen is a view of the test's store: the number of reads, and the error of the latest read.
type seen struct {
	looks int
	err   string
	stale bool
	work  string
}

type connection struct{ target string }

func (*connection) Close() error { return nil }

// looking reads the store that the target names. For the target "hostile", each read panics.
type looking struct {
	*Cluster[string, seen, *connection]
	rounds *Rounds[string]
}

func (l *looking) Look(ctx context.Context, before seen) seen {
	store, done, err := l.Use()
	if err != nil {
		return seen{err: err.Error()}
	}
	defer done()
	if store.target == "hostile" {
		panic("makeslice: len out of range")
	}
	round := l.rounds.Begin(ctx, store, func(_ context.Context, address string) (string, error) {
		if address == "hostile" {
			panic("index out of range")
		}
		return address, nil
	})
	round.Ask("friendly", store.target)
	view := seen{looks: before.looks + 1}
	for _, answer := range round.Wait() {
		if answer.Err != nil {
			view.err = answer.Err.Error()
		}
	}
	return view
}

func (*looking) End() {}

// probing runs a test with a prober in a synctest bubble, which has its own time.
func probing(t *testing.T, test func(*testing.T, *Prober[string, seen, *connection])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := New(Source[string, seen, *connection]{
			Dial:     func(target string) (*connection, error) { return &connection{target}, nil },
			Same:     func(a, b string) bool { return a == b },
			Interval: func(seen) time.Duration { return time.Second },
			Alike:    func(a, b seen) bool { return a.err == b.err && a.stale == b.stale && a.work == b.work },
			Mark: func(v seen, stale bool, work string) seen {
				v.stale, v.work = stale, work
				return v
			},
			Failed: func(before seen, err error) seen { return seen{looks: before.looks, err: err.Error()} },
			Looker: func(c *Cluster[string, seen, *connection]) Looker[seen] {
				return &looking{Cluster: c, rounds: NewRounds[string](c, nil)}
			},
		}, clock.RealClock{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = p.Start(ctx)
		}()
		test(t, p)
		cancel()
		<-ended
	})
}

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

func TestAPanicOverOneClusterIsAFindingAboutThatClusterOnly(t *testing.T) {
	probing(t, func(t *testing.T, p *Prober[string, seen, *connection]) {
		p.Watch(named("good"), "store")
		p.Watch(named("bad"), "hostile")
		time.Sleep(10 * time.Second)
		bad, looked := p.View(named("bad"))
		if !looked || !strings.Contains(bad.err, "makeslice") {
			t.Errorf("expected the view of the hostile cluster to name the panic, got %+v", bad)
		}
		if good, _ := p.View(named("good")); good.looks < 9 || good.err != "" {
			t.Errorf("expected the other cluster to be looked at every second, got %+v", good)
		}
	})
}

func TestAPanicOverOneAddressIsTheErrorOfThatAddress(t *testing.T) {
	probing(t, func(t *testing.T, p *Prober[string, seen, *connection]) {
		p.Watch(named("mixed"), "store")
		if err := waitForLook(p, "mixed"); err != "" {
			t.Errorf("expected no error while all addresses answer, got %s", err)
		}
		c, _ := p.Cluster(named("mixed"))
		round := c.Looker().(*looking).rounds.Begin(t.Context(), &connection{}, func(context.Context, string) (string, error) { panic("index out of range") })
		round.Ask("hostile")
		if answer := round.Wait()["hostile"]; answer.Err == nil || !strings.Contains(answer.Err.Error(), "index out of range") {
			t.Errorf("expected the answer to be an error that names the panic, got %+v", answer)
		}
	})
}

func TestWorkIsShownAndLeavesTheViewStale(t *testing.T) {
	probing(t, func(t *testing.T, p *Prober[string, seen, *connection]) {
		p.Watch(named("one"), "store")
		waitForLook(p, "one")
		release := make(chan struct{})
		work := Work[*connection]{Name: "defragment", Limit: time.Minute, Do: func(context.Context, *connection) { <-release }}
		if err := p.Begin(named("one"), work); err != nil {
			t.Fatal(err)
		}
		if view, _ := p.View(named("one")); view.work != "defragment" || view.stale {
			t.Errorf("expected the view to name the work and to be fresh, got %+v", view)
		}
		if err := p.Begin(named("one"), work); err != ErrBusy { //nolint:errorlint // it is returned without wrapping
			t.Errorf("expected a second work to be refused, got %v", err)
		}
		close(release)
		synctest.Wait()
		if view, _ := p.View(named("one")); view.work != "" || view.stale {
			t.Errorf("expected a look after the work to show that nothing is under way, got %+v", view)
		}
	})
}

func TestAPanicOfAStepOrOfWorkIsContained(t *testing.T) {
	probing(t, func(t *testing.T, p *Prober[string, seen, *connection]) {
		p.Watch(named("one"), "store")
		waitForLook(p, "one")
		err := p.Do(t.Context(), named("one"), func(context.Context, *connection) error { panic("makeslice: len out of range") })
		if !errors.Is(err, ErrPanicked) || !strings.Contains(err.Error(), "makeslice") {
			t.Errorf("expected the panic of a step to be its error, got %v", err)
		}
		if err := p.Begin(named("one"), Work[*connection]{Name: "defragment", Limit: time.Minute, Do: func(context.Context, *connection) { panic("x") }}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(2 * time.Second)
		if view, _ := p.View(named("one")); view.work != "" || view.err != "" {
			t.Errorf("expected the work to have ended and the looks to go on, got %+v", view)
		}
	})
}

// waitForLook waits for the first read and returns its error.
func waitForLook(p *Prober[string, seen, *connection], name string) string {
	time.Sleep(1500 * time.Millisecond)
	view, _ := p.View(named(name))
	return view.err
}
