// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/elections"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Regression test: a replica that had just joined requested votes before the voters knew it. It lost the elections, and
// after each attempt its primary served no clients for a while, 20 seconds in total.
func TestAReplicaIsAskedToLeadOnlyWhenItWouldBeElected(t *testing.T) {
	// change changes what one server (of) knows about another server (about).
	change := func(view redis.View, w *world, of, about string, do func(*redis.Peer)) {
		known := view.Nodes[w.one(of).address].Known
		for i := range known {
			if known[i].ID == w.one(about).ID {
				do(&known[i])
			}
		}
	}
	apart := func(p *redis.Peer) { p.Connected = false }
	count := func(v redis.View, epoch uint64) {
		for address, status := range v.Nodes {
			status.CurrentEpoch = epoch
			v.Nodes[address] = status
		}
	}
	for name, test := range map[string]struct {
		do   func(redis.View, *world)
		want string
	}{
		"all know it": {func(redis.View, *world) {}, ""},
		"one voter has not heard of it, the other has": {func(v redis.View, w *world) {
			change(v, w, "h1", "h0", func(p *redis.Peer) { p.PrimaryID = "" })
		}, ""},
		"only the primary would vote for it": {func(v redis.View, w *world) {
			change(v, w, "h1", "h0", apart)
			change(v, w, "h2", "h0", func(p *redis.Peer) { p.Handshake = true })
		}, "1 of 3 primaries know"},
		"it has no link to the voters": {func(v redis.View, w *world) {
			change(v, w, "h0", "h1", apart)
			change(v, w, "h0", "h2", apart)
		}, "1 of 3 primaries know"},
		"the primary has not heard of it": {func(v redis.View, w *world) {
			change(v, w, "g1", "h0", func(p *redis.Peer) { p.PrimaryID = "" })
		}, "the guest server of pod 1 does not know yet that the home server of pod 0 replicates it"},
		"it has not heard of the last election": {func(v redis.View, w *world) {
			for _, name := range []string{"h1", "h2", "g1"} {
				status := v.Nodes[w.one(name).address]
				status.CurrentEpoch = 9
				v.Nodes[w.one(name).address] = status
			}
		}, "does not know yet"},
		"it has just lost an election": {func(_ redis.View, w *world) {
			w.ring.LostElection = map[string]bool{w.one("h0").address: true}
		}, "the home server of pod 0 has just lost an election"},
		"an earlier operator may have asked for an election, and no replica has won the last election": {func(v redis.View, w *world) {
			w.ring.New = true
			count(v, 9)
		}, "the home server of pod 0 may have lost the last election, which no replica has won"},
		"that is not known, and the last election was won":         {func(_ redis.View, w *world) { w.ring.New = true }, ""},
		"no replica has won the last election, which was long ago": {func(v redis.View, _ *world) { count(v, 9) }, ""},
	} {
		w := formed(3)
		w.promote("g1", "h0")
		view := w.view()
		test.do(view, w)
		step, why := ring.Next(view, w.ring)
		_, asked := step.(redis.TakeLead)
		if asked != (test.want == "") {
			t.Errorf("%s: expected it to be asked to lead: %v, got %v", name, test.want == "", step)
		}
		if test.want != "" && (len(why.Refusals) == 0 || !strings.Contains(why.Refusals[0].Message, test.want)) {
			t.Errorf("%s: expected %q, got %v", name, test.want, why.Refusals)
		}
	}
}

// Regression, seen with Redis 7.0 and 8.0: opcrew asked a replica to become the primary although it had been a primary
// a moment before. See elections.Pause.
func TestAReplicaThatMayHaveLedAMomentAgoIsNotAskedToLead(t *testing.T) {
	demoted := func(following time.Duration) func(*process) {
		return func(p *process) { p.Past = elections.Past{Led: true, Following: following} }
	}
	for name, test := range map[string]struct {
		do    func(*process)
		waits bool
	}{
		"it has led, and followed since for less than a pause": {demoted(19 * time.Second), true},
		"it has led, and followed since for long":              {demoted(20 * time.Second), false},
		"it has followed for as long as it runs":               {func(*process) {}, false},
		"it is a Valkey that is elected again at once": {func(p *process) {
			demoted(0)(p)
			p.Version = redis.Version{Number: "8.1.1", Valkey: true}
		}, false},
	} {
		w := formed(3)
		w.ring.Elections, w.ring.Pods[0].Yields = 20*time.Second, true
		test.do(w.one("g1"))
		step, why := ring.Next(w.view(), w.ring)
		if asked := step != nil; asked == test.waits {
			t.Errorf("%s: expected to wait: %t, got %v, refused: %v", name, test.waits, step, why.Refusals)
		}
		if test.waits && (len(why.Refusals) == 0 || why.Refusals[0].Message != "the guest server of pod 1 may have been the primary a moment ago, and a server cannot win another election so soon") {
			t.Errorf("%s: expected a refusal that names what is waited for, got %v", name, why.Refusals)
		}
	}
}
