// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRulesAreConfirmedWhenTheAPIServerAnswers(t *testing.T) {
	w := newWorld(t)
	gold := rules(t, "gold", 80, "node", "other")
	w.pools["gold"], w.pools["silver"] = gold, rules(t, "silver", 81, "other")
	w.pass(time.Second)
	w.expect("after a second", w.tableOf(gold), revisions("gold", gold))
	if got := w.last().Others; len(got) != 1 {
		t.Errorf("expected the other firewall to be reported, got %v", got)
	}
	applied, reports := w.applied, len(w.reports)
	w.pass(10 * time.Minute)
	if w.applied != applied || len(w.reports) != reports {
		t.Errorf("expected no write at rest, got %d tables and %d reports", w.applied-applied, len(w.reports)-reports)
	}
	w.restart()
	w.pass(time.Minute)
	if w.applied != applied {
		t.Error("expected a restart not to write the table")
	}
}

func TestTheTableIsRepaired(t *testing.T) {
	w := newWorld(t)
	gold := rules(t, "gold", 80, "node")
	w.pools["gold"] = gold
	w.pass(time.Second)
	w.table = ""
	w.pass(20 * time.Second)
	w.expect("after another process removed it", w.tableOf(gold), revisions("gold", gold))
}

func TestARuleSetThatCutsTheNodeOffIsRevertedWithinAMinute(t *testing.T) {
	w := newWorld(t)
	good, bad := rules(t, "gold", 80, "node"), rules(t, "gold", 81, "node")
	w.pools["gold"] = good
	w.pass(time.Second)
	w.pools["gold"] = bad
	w.cuts[w.tableOf(bad)] = true
	w.pass(time.Second)
	if w.table != w.tableOf(bad) {
		t.Fatal("expected the rules to be tried")
	}
	w.pass(45 * time.Second)
	w.expect("after the revert", w.tableOf(good), revisions("gold", good))
	if r := w.last(); r.Refused["gold"] != revisions("gold", bad)["gold"] || !strings.Contains(r.Message, "did not reach the API server") {
		t.Errorf("expected the reason in the report, got %+v", r)
	}
	w.pass(time.Hour)
	w.expect("an hour later", w.tableOf(good), revisions("gold", good))
	if w.applied > 5 {
		t.Errorf("expected the rules to be tried twice at most, got %d tables", w.applied)
	}
	next := rules(t, "gold", 82, "node")
	w.pools["gold"] = next
	w.pass(time.Second)
	w.expect("with other rules", w.tableOf(next), revisions("gold", next))
	if r := w.last(); r.Message != "" || len(r.Refused) > 0 {
		t.Errorf("expected no refusal any more, got %+v", r)
	}
}

func TestAnOutageOfTheAPIServerRefusesNoRules(t *testing.T) {
	w := newWorld(t)
	gold := rules(t, "gold", 80, "node")
	w.pools["gold"] = gold
	w.agent.Turn(context.Background()) // the trial has begun
	w.outage = true
	w.pass(10 * time.Minute)
	if w.table != "" || len(w.reports) > 0 {
		t.Errorf("expected the previous rules during the outage, got %q", w.table)
	}
	w.outage = false
	w.pass(20 * time.Second)
	w.expect("after the outage", w.tableOf(gold), revisions("gold", gold))
}

func TestRulesWaitForContact(t *testing.T) {
	w := newWorld(t)
	gold := rules(t, "gold", 80, "node")
	w.pools["gold"], w.outage = gold, true
	w.pass(time.Hour)
	if w.table != "" {
		t.Error("expected no trial without contact")
	}
	w.outage = false
	w.pass(20 * time.Second)
	w.expect("with contact", w.tableOf(gold), revisions("gold", gold))
}

func TestAKilledAgentRevertsTheTrialAfterItsRestart(t *testing.T) {
	w := newWorld(t)
	good, bad := rules(t, "gold", 80, "node"), rules(t, "gold", 81, "node")
	w.pools["gold"] = good
	w.pass(time.Second)
	w.pools["gold"] = bad
	w.cuts[w.tableOf(bad)] = true
	w.pass(time.Second)
	w.restart()
	w.known = false // the node is cut off, so the new agent reads nothing
	w.pass(time.Millisecond)
	if w.table != w.tableOf(good) {
		t.Errorf("expected the previous rules after the restart, got %q", w.table)
	}
}

func TestRulesThatEndTheAgentAreNotTriedForEver(t *testing.T) {
	w := newWorld(t)
	bad := rules(t, "gold", 81, "node")
	w.pools["gold"] = bad
	w.cuts[w.tableOf(bad)] = true
	for range 20 {
		w.agent.Turn(context.Background())
		w.restart()
	}
	if w.applied > mostCrashes {
		t.Errorf("expected at most %d trials, got %d", mostCrashes, w.applied)
	}
	w.pass(time.Second)
	if r := w.last(); !strings.Contains(r.Message, "ended before it could confirm") {
		t.Errorf("expected the reason in the report, got %+v", r)
	}
}

func TestAfterABootTheConfirmedRulesAreInForceWithoutContact(t *testing.T) {
	w := newWorld(t)
	gold := rules(t, "gold", 80, "node")
	w.pools["gold"] = gold
	w.pass(time.Second)
	w.table, w.known, w.outage = "", false, true
	w.restart()
	w.pass(time.Millisecond)
	if w.table != w.tableOf(gold) {
		t.Errorf("expected the confirmed rules, got %q", w.table)
	}
}

func TestAnAgentThatStopsRevertsATrialAndKeepsConfirmedRules(t *testing.T) {
	w := newWorld(t)
	gold := rules(t, "gold", 80, "node")
	w.pools["gold"] = gold
	w.agent.Turn(context.Background())
	w.agent.Stop()
	if w.table != "" {
		t.Error("expected the trial to be reverted")
	}
	w.restart()
	w.pass(time.Second)
	w.agent.Stop()
	w.expect("after the stop", w.tableOf(gold), revisions("gold", gold))
}

func TestANodeThatLeavesKeepsNothing(t *testing.T) {
	w := newWorld(t)
	w.pools["gold"] = rules(t, "gold", 80, "node")
	w.pass(time.Second)
	w.pools["gold"] = rules(t, "gold", 80, "other")
	w.pass(time.Second)
	if left, _ := filepath.Glob(filepath.Join(w.dir, "*")); w.table != "" || len(left) > 0 {
		t.Errorf("expected neither a table nor a file, got %q and %v", w.table, left)
	}
	if last := w.reports[len(w.reports)-1]; last != "" {
		t.Errorf("expected the report to be removed, got %s", last)
	}
}

func TestRulesThatTheKernelOrTheAgentRefusesAreReported(t *testing.T) {
	w := newWorld(t)
	good := rules(t, "gold", 80, "node")
	w.pools["gold"] = good
	w.pass(time.Second)
	w.refuses = errors.New("no memory")
	w.pools["gold"] = rules(t, "gold", 81, "node")
	w.pass(time.Minute)
	w.expect("after the refusal", w.tableOf(good), revisions("gold", good))
	if r := w.last(); !strings.Contains(r.Message, "no memory") {
		t.Errorf("expected the reason, got %+v", r)
	}
	w.refuses = nil
	w.pass(6 * time.Minute)
	w.expect("when the kernel has memory again", w.tableOf(w.pools["gold"]), revisions("gold", w.pools["gold"]))
	last := w.pools["gold"]
	w.pools["gold"] = `{"pool":"gold","later":true}`
	w.pass(time.Minute)
	w.expect("with rules of a later version", w.tableOf(last), revisions("gold", last))
	if r := w.last(); !strings.Contains(r.Message, "cannot be read") {
		t.Errorf("expected the reason, got %+v", r)
	}
}

func TestAnAgentThatEndsAtAnyWriteReachesTheSameEnd(t *testing.T) {
	for at := 1; at < 40; at++ {
		w := newWorld(t)
		first, second := rules(t, "gold", 80, "node"), rules(t, "gold", 81, "node")
		w.dies = at
		w.survive(t, first)
		w.expect("the first rules", w.tableOf(first), revisions("gold", first))
		w.survive(t, second)
		w.expect("the second rules", w.tableOf(second), revisions("gold", second))
		w.survive(t, "")
		if _, err := os.Stat(filepath.Join(w.dir, "state.json")); w.table != "" || err == nil {
			t.Errorf("crash at write %d: expected nothing to stay, got %q", at, w.table)
		}
	}
}

// survive gives the agent rules, and restarts it when it ends.
func (w *world) survive(t *testing.T, text string) {
	t.Helper()
	if w.pools["gold"] = text; text == "" {
		delete(w.pools, "gold")
	}
	for range 3 {
		func() {
			defer func() {
				if ended := recover(); ended != nil {
					if _, is := ended.(crash); !is {
						panic(ended)
					}
					w.restart()
				}
			}()
			w.pass(time.Minute)
		}()
	}
}

func TestAReportThatAnotherClientRemovedComesBack(t *testing.T) {
	w := newWorld(t)
	w.pools["gold"] = rules(t, "gold", 80, "node")
	w.pass(time.Second)
	n := len(w.reports)
	w.pass(repeatTime + time.Minute)
	if len(w.reports) != n+1 {
		t.Errorf("expected one more report, got %d", len(w.reports)-n)
	}
}

func TestAStateThatCannotBeReadCountsAsNone(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, "state.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	gold := rules(t, "gold", 80, "node")
	w.pools["gold"] = gold
	w.pass(time.Second)
	w.expect("after a second", w.tableOf(gold), revisions("gold", gold))
}

func TestAKernelLearnsConnectionsBeforeTheFirstRules(t *testing.T) {
	w := newWorld(t)
	gold := rules(t, "gold", 80, "node")
	w.pools["gold"], w.untracked = gold, true
	w.pass(10 * time.Second)
	if w.table == "" || strings.Contains(w.table, "Deny:true") || w.last().Active != nil {
		t.Errorf("expected a table that drops nothing, and no rules in the report, got %q, %v", w.table, w.reports)
	}
	w.pass(learnTime)
	w.expect("after that", w.tableOf(gold), revisions("gold", gold))
}
