// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// openingRules returns the document of a pool that opens a port on the node, also in the host's firewall.
func openingRules(t *testing.T, port uint16) string {
	t.Helper()
	pool, err := nodefirewall.ParsePool(rules(t, "gold", port, "node"))
	if err != nil {
		t.Fatal(err)
	}
	pool.OpenHost = true
	text, err := nodefirewall.Encode(pool)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// answer writes what the agent of the host's firewall answers to the order.
func (w *world) answer(message string) {
	w.t.Helper()
	order, err := w.agent.Store.Order()
	if err != nil || order == "" {
		w.t.Fatalf("expected an order, got %q, %v", order, err)
	}
	w.answerTo(order, message)
}

func (w *world) answerTo(order, message string) {
	w.t.Helper()
	text, err := nodefirewall.EncodeResult(nodefirewall.HostResult{
		Revision: nodefirewall.Revision(order), Tools: []string{"ufw"}, Message: message, Checked: w.clock.Now(),
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, nodefirewall.ResultFile), []byte(text), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestRulesAreReportedAsOpenedWhenTheHostHasThem(t *testing.T) {
	w := newWorld(t)
	gold := openingRules(t, 80)
	w.pools["gold"] = gold
	w.pass(time.Second)
	if r := w.last(); !slices.Equal(r.HostPools, []string{"gold"}) || len(r.Opened) > 0 || !strings.Contains(r.HostMessage, "has not answered yet") {
		t.Errorf("expected the report to wait for an answer, got %+v", r)
	}
	w.answer("ufw: no space left")
	w.pass(time.Minute)
	if r := w.last(); len(r.Opened) > 0 || r.HostMessage != "ufw: no space left" {
		t.Errorf("expected the reason of the host, got %+v", r)
	}
	w.answer("")
	w.pass(time.Minute)
	if r := w.last(); r.Opened["gold"] != nodefirewall.Revision(gold) || r.HostMessage != "" {
		t.Errorf("expected the rules to be opened, got %+v", r)
	}
	w.pass(answerTime + time.Minute)
	if r := w.last(); len(r.Opened) > 0 || !strings.Contains(r.HostMessage, "does not answer") {
		t.Errorf("expected an old answer to count as none, got %+v", r)
	}
}

func TestAnOrderIsOfTheConfirmedRulesOnly(t *testing.T) {
	w := newWorld(t)
	w.pools["gold"] = openingRules(t, 80)
	w.pass(time.Second)
	w.answer("")
	before, _ := w.agent.Store.Order()
	w.cuts[w.tableOf(openingRules(t, 81))] = true
	w.pools["gold"] = openingRules(t, 81)
	w.pass(20 * time.Minute)
	if after, _ := w.agent.Store.Order(); after != before || !strings.Contains(after, ":80,") {
		t.Errorf("expected the order of the confirmed rules, got %s", after)
	}
}

func TestANodeThatLeavesWaitsUntilItsHostIsClosed(t *testing.T) {
	for name, leave := range map[string]func(*world){
		"it leaves":                        func(w *world) { delete(w.pools, "gold") },
		"it leaves while it is down":       func(w *world) { delete(w.pools, "gold"); w.restart() },
		"the pool closes the host":         func(w *world) { w.pools["gold"] = rules(t, "gold", 80, "node") },
		"it leaves, and its state is bad":  func(w *world) { delete(w.pools, "gold"); w.spoil(); w.restart() },
		"an answer to the order before it": func(w *world) { delete(w.pools, "gold"); w.answer("") },
	} {
		w := newWorld(t)
		w.pools["gold"] = openingRules(t, 80)
		w.pass(time.Second)
		w.answer("")
		w.pass(time.Minute)
		leave(w)
		w.pass(time.Minute)
		if order, _ := w.agent.Store.Order(); strings.Contains(order, "rules") || len(w.last().HostPools) != 1 || len(w.last().Opened) > 0 {
			t.Errorf("%s: expected an order without rules, and a report that says so, got %q, %+v", name, order, w.last())
		}
		w.answer("")
		w.pass(time.Minute)
		left, _ := filepath.Glob(filepath.Join(w.dir, "host-*"))
		if len(left) > 0 || len(w.last().HostPools) > 0 {
			t.Errorf("%s: expected nothing to stay, got %v, %+v", name, left, w.last())
		}
	}
}

// The agent of the host may still carry out an order that was replaced and is ordered again, so each order has an identity.
func TestAnAnswerToAnEarlierOrderDoesNotCount(t *testing.T) {
	w := newWorld(t)
	gold := openingRules(t, 80)
	w.pools["gold"] = gold
	w.pass(time.Second)
	first, _ := w.agent.Store.Order()
	for _, text := range []string{openingRules(t, 81), gold} {
		w.pools["gold"] = text
		w.pass(time.Minute)
	}
	w.answerTo(first, "")
	w.pass(time.Minute)
	if r := w.last(); len(r.Opened) > 0 || !strings.Contains(r.HostMessage, "has not answered yet") {
		t.Errorf("expected the rules not to be opened, got %+v", r)
	}
}

func TestRulesThatCannotBeOrderedAreNotOpened(t *testing.T) {
	w := newWorld(t)
	w.pools["gold"] = openingRules(t, 80)
	w.pass(time.Second)
	w.answer("")
	// No other order can be written, because a directory with content has the name of the temporary file.
	if err := os.MkdirAll(filepath.Join(w.dir, "."+nodefirewall.OrderFile+".next", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.pools["gold"] = openingRules(t, 81)
	w.pass(time.Minute)
	if r := w.last(); len(r.Opened) > 0 || !strings.Contains(r.HostMessage, "could not be ordered") {
		t.Errorf("expected the rules not to be opened, got %+v", r)
	}
}

func TestAFirewalldThatDoesNotAnswerIsReported(t *testing.T) {
	w := newWorld(t)
	w.others = []string{"firewalld"}
	w.pools["gold"] = openingRules(t, 80)
	w.pass(time.Second)
	w.answer("")
	w.pass(time.Minute)
	if r := w.last(); len(r.Opened) > 0 || !strings.Contains(r.HostMessage, "firewalld has rules in the kernel and does not answer") {
		t.Errorf("expected a firewall that was not asked to be named, got %+v", r)
	}
}

func (w *world) spoil() {
	if err := os.WriteFile(filepath.Join(w.dir, "state.json"), []byte("{"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}
