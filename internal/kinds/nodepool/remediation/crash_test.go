// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

// A crash can prevent any write, so that the status of the pool does not show what was created. Whatever happens, an
// attempt has one fence command, and a node is marked only with evidence.
func TestNoCrashFencesTwiceOrWithoutEvidence(t *testing.T) {
	texts := map[Role][]string{Power1: {"off", "off", "on", ""}, Power2: {"off", "on"}, Peer1: {noAnswer, noAnswer, "answer"}, Peer2: {noAnswer, noAnswer, ""}}
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t)
		for range 200 {
			for role, all := range texts {
				w.answers[role] = all[random.IntN(len(all))]
			}
			w.now = w.now.Add(time.Duration(1+random.IntN(20)) * time.Second)
			in := w.input()
			v := Decide(in)
			if random.IntN(5) > 0 { // otherwise it crashes before the first write
				for _, run := range v.Create {
					w.create(in, run) // fails the test if the Activity exists
				}
				if random.IntN(4) > 0 {
					w.report(v)
				}
			}
			if random.IntN(2) == 0 {
				w.work()
			}
			w.mark("n1")
			if Fenced(w.node("n1")) {
				break
			}
		}
		if Fenced(w.node("n1")) && !proven(w) {
			t.Fatalf("seed %d: the node is marked without evidence: %+v", seed, w.record)
		}
	}
}

// proven reports whether one attempt has all evidence.
func proven(w *world) bool {
	printedBy := func(fence string, role Role, text string) bool {
		a := w.runs[strings.TrimSuffix(fence, string(Fence))+string(role)]
		return a != nil && a.Status.Prosta == egov1.StateSucceeded && strings.TrimSpace(a.Status.Output) == text
	}
	for name := range w.runs {
		if strings.HasSuffix(name, string(Fence)) && printedBy(name, Power1, "off") && printedBy(name, Power2, "off") &&
			printedBy(name, Peer1, noAnswer) && printedBy(name, Peer2, noAnswer) {
			return true
		}
	}
	return false
}
