// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostfirewall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall/opening"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// wall is a firewall that takes a number of rules with each call.
type wall struct {
	runs     bool
	rules, n int
	err      error
	calls    int
}

func (w *wall) Name() string { return "wall" }

func (w *wall) Keep(_ context.Context, declared []opening.Opening) (bool, int, error) {
	w.calls++
	w.rules = min(len(declared), w.rules+w.n)
	return w.runs, len(declared) - w.rules, w.err
}

type scene struct {
	*Keeper
	t     *testing.T
	clock *clocktesting.FakeClock
	wall  *wall
}

func newScene(t *testing.T) *scene {
	t.Helper()
	clock := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	w := &wall{runs: true, n: 100}
	return &scene{&Keeper{Dir: t.TempDir(), Tools: []Tool{w}, Clock: clock, Log: slog.New(slog.DiscardHandler)}, t, clock, w}
}

func (s *scene) orders(ports int) string {
	s.t.Helper()
	var order nodefirewall.HostOrder
	for i := range ports {
		p := uint16(i + 1)
		order.Rules = append(order.Rules, nodefirewall.Rule{Any: true, Ports: []nodefirewall.Ports{{Protocol: nodefirewall.TCP, First: p, Last: p}}})
	}
	text, err := nodefirewall.EncodeOrder(order)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(text)
	return text
}

func (s *scene) write(order string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, nodefirewall.OrderFile), []byte(order), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// turn lets some time pass, and returns the result after the next turn.
func (s *scene) turn(after time.Duration) nodefirewall.HostResult {
	s.t.Helper()
	s.clock.Step(after)
	s.Turn(context.Background())
	text, err := os.ReadFile(filepath.Join(s.Dir, nodefirewall.ResultFile))
	if err != nil {
		return nodefirewall.HostResult{}
	}
	result, err := nodefirewall.ParseResult(string(text))
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

func TestAnOrderIsCarriedOutOnceAndComparedAgainLater(t *testing.T) {
	s := newScene(t)
	s.turn(0)
	if s.turn(checkTime); s.wall.calls != 1 {
		t.Errorf("expected one call that removes what an earlier agent may have left, got %d", s.wall.calls)
	}
	s.wall.calls = 0
	order := s.orders(3)
	if got := s.turn(0); !got.Done(order) || fmt.Sprint(got.Tools) != "[wall]" || s.wall.rules != 3 {
		t.Errorf("expected the rules in the firewall, got %+v", got)
	}
	for range 10 {
		s.turn(lookTime)
	}
	if s.wall.calls != 1 {
		t.Errorf("expected no further call within half a minute, got %d", s.wall.calls)
	}
	if s.turn(checkTime); s.wall.calls != 2 {
		t.Errorf("expected another comparison, got %d", s.wall.calls)
	}
	order = s.orders(1)
	if got := s.turn(lookTime); !got.Done(order) || s.wall.rules != 1 {
		t.Errorf("expected the new order at once, got %+v", got)
	}
}

func TestManyChangesAreMadeInSeveralTurns(t *testing.T) {
	s := newScene(t)
	s.wall.n = 2
	order := s.orders(5)
	if got := s.turn(0); got.Done(order) || got.Message != "wall: rules are still to be changed" {
		t.Errorf("expected a message about changes that are left, got %+v", got)
	}
	s.turn(lookTime)
	if got := s.turn(lookTime); !got.Done(order) {
		t.Errorf("expected the order to be carried out in three turns, got %+v", got)
	}
}

func TestAnOrderThatGoesClosesWhatItOpened(t *testing.T) {
	s := newScene(t)
	s.orders(3)
	s.turn(0)
	if err := os.Remove(filepath.Join(s.Dir, nodefirewall.OrderFile)); err != nil {
		t.Fatal(err)
	}
	s.wall.err = errors.New("the daemon does not answer")
	s.turn(lookTime)
	s.wall.err = nil
	if got := s.turn(checkTime); s.wall.rules != 0 || got.Revision != "" {
		t.Errorf("expected neither rules nor a result, got %d and %+v", s.wall.rules, got)
	}
	calls := s.wall.calls
	if s.turn(checkTime); s.wall.calls != calls {
		t.Error("expected no call without an order")
	}
}

func TestAProblemIsReportedAndTriedAgain(t *testing.T) {
	s := newScene(t)
	s.wall.err = errors.New("the daemon does not answer")
	order := s.orders(1)
	if got := s.turn(0); got.Message != "wall: the daemon does not answer" {
		t.Errorf("expected the reason, got %+v", got)
	}
	s.wall.err = nil
	if got := s.turn(checkTime); !got.Done(order) {
		t.Errorf("expected the order to be carried out, got %+v", got)
	}
	s.write("{\"later\":1}")
	if got := s.turn(lookTime); got.Message == "" || s.wall.rules != 1 {
		t.Errorf("expected an order that cannot be read to change nothing, got %+v", got)
	}
}

func TestAFirewallThatDoesNotRunIsNotNamed(t *testing.T) {
	s := newScene(t)
	s.wall.runs = false
	order := s.orders(1)
	if got := s.turn(0); len(got.Tools) > 0 || !got.Done(order) {
		t.Errorf("expected success without a tool, got %+v", got)
	}
}
