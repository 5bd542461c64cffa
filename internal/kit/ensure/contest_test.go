// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

const child = "uid-of-child"

// ring is a test bench for contests, in which another manager keeps undoing writes to one object, with a fake clock.
type ring struct {
	*Applier
	t     *testing.T
	clock *clocktesting.FakePassiveClock
}

func newRing(t *testing.T) *ring {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return &ring{&Applier{Clock: clock}, t, clock}
}

func (r *ring) after(d time.Duration) *ring {
	r.clock.SetTime(r.clock.Now().Add(d))
	return r
}

// repairs counts n writes, and expects that none of them has to wait.
func (r *ring) repairs(n int) *ring {
	r.t.Helper()
	for i := range n {
		if wait := r.Contest(child, "intent"); wait != 0 {
			r.t.Fatalf("repair %d has to wait for %s, expected it to go on", i+1, wait)
		}
	}
	return r
}

// settles simulates a reconcile that finds the object as declared.
func (r *ring) settles() { r.contests.settle(child, r.clock.Now()) }

func (r *ring) waits(want time.Duration) *ring {
	r.t.Helper()
	if wait := r.Contest(child, "intent"); wait != want {
		r.t.Fatalf("the object is left alone for %s, expected %s", wait, want)
	}
	return r
}

func TestTheFourthRepairInAMinuteHasToWait(t *testing.T) {
	newRing(t).repairs(3).waits(time.Minute)
}

func TestRepairsThatAreSpreadOutNeverWait(t *testing.T) {
	r := newRing(t)
	for range 20 {
		r.repairs(1).after(21 * time.Second)
	}
}

func TestRepairsCountForAMinute(t *testing.T) {
	newRing(t).repairs(2).after(59 * time.Second).repairs(1).waits(time.Minute)
	newRing(t).repairs(2).after(60 * time.Second).repairs(3).waits(time.Minute)
}

func TestTheWaitEndsAndIsCountedDown(t *testing.T) {
	r := newRing(t).repairs(3).waits(time.Minute)
	r.after(20 * time.Second).waits(40 * time.Second)
	r.after(40 * time.Second).repairs(3)
}

func TestEveryFurtherRoundWaitsTwiceAsLongUpToSixteenMinutes(t *testing.T) {
	r := newRing(t)
	for _, minutes := range []time.Duration{1, 2, 4, 8, 16, 16} {
		r.repairs(3).waits(minutes * time.Minute).after(minutes * time.Minute)
	}
}

func TestAnotherIntentBeginsAnotherCount(t *testing.T) {
	r := newRing(t).repairs(3).waits(time.Minute)
	if wait := r.Contest(child, "what the user edited"); wait != 0 {
		t.Errorf("the edit of a user waits for %s, expected it to be written at once", wait)
	}
	if wait := r.Contest("uid-of-another", "intent"); wait != 0 {
		t.Errorf("another object waits for %s, expected it not to", wait)
	}
}

func TestAWriteThatFailedIsNoRepair(t *testing.T) {
	r := newRing(t)
	for range 10 {
		r.repairs(1)
		r.Withdraw(child)
	}
	r.repairs(3).waits(time.Minute)
	r.Withdraw("uid-of-no-object")
}

func TestBeingAsDeclaredForASecondDoesNotEndAContest(t *testing.T) {
	r := newRing(t)
	for range 3 {
		r.repairs(1).settles()
		r.after(time.Second)
	}
	r.waits(time.Minute)
	r.after(time.Minute).repairs(3).settles()
	r.waits(2 * time.Minute)
}

func TestBeingAsDeclaredForLongerThanTheLastWaitEndsIt(t *testing.T) {
	for name, r := range map[string]*ring{
		"when it was looked at": func() *ring {
			r := newRing(t).repairs(3).waits(time.Minute).after(2*time.Minute + time.Second)
			r.settles()
			if len(r.contests.byUID) != 0 {
				t.Error("the contest is remembered, expected it to be forgotten")
			}
			return r
		}(),
		"without a reconcile since": newRing(t).repairs(3).waits(time.Minute).after(2*time.Minute + time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			r.repairs(3).waits(time.Minute)
		})
	}
}

func TestAnObjectThatIsGoneIsForgotten(t *testing.T) {
	r := newRing(t).repairs(3).waits(time.Minute)
	r.contests.forget(child)
	r.repairs(3)
}
