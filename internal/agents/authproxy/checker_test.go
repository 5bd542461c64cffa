// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/shared/limiter"
)

// desk is a checker that counts how many hashes it computes. A test can pause the computations with a channel (hold).
// Tests use a desk in a synctest bubble, which has a fake clock.
type desk struct {
	*checker
	set    *credentials
	hashes atomic.Int32
	hold   chan struct{} // each hash computation waits until this channel is closed
}

func newDesk(t *testing.T) *desk {
	d := &desk{checker: newChecker(clock.RealClock{}, newMetrics()), set: setOf(t, nil, "ada:"+shaOfOne), hold: make(chan struct{})}
	d.slots = make(chan struct{}, 1)
	d.checker.verify = func(c *credentials, user, password string) *line {
		d.hashes.Add(1)
		<-d.hold
		return c.verify(user, password)
	}
	return d
}

func openDesk(t *testing.T) *desk {
	d := newDesk(t)
	close(d.hold)
	return d
}

func (d *desk) ask(ctx context.Context, from uint32, password string) error {
	return d.check(ctx, d.set, address(from), "ada", password)
}

// askMany makes n checks concurrently, and returns a channel with their results.
func (d *desk) askMany(ctx context.Context, n int, from func(i int) uint32, password func(i int) string) <-chan error {
	answers := make(chan error, n)
	for i := range n {
		go func() { answers <- d.ask(ctx, from(i), password(i)) }()
	}
	return answers
}

func address(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

func always[T any](value T) func(int) T { return func(int) T { return value } }

func tally(answers <-chan error, n int) map[error]int {
	counts := map[error]int{}
	for range n {
		counts[<-answers]++
	}
	return counts
}

func (d *desk) expectHashes(t *testing.T, want int32) {
	t.Helper()
	if got := d.hashes.Load(); got != want {
		t.Errorf("%d passwords were hashed, expected %d", got, want)
	}
}

func TestAHundredFirstRequestsHashOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		answers := d.askMany(t.Context(), 100, func(i int) uint32 { return uint32(i) }, always("1"))
		synctest.Wait()
		d.expectHashes(t, 1)
		close(d.hold)
		if counts := tally(answers, 100); counts[nil] != 100 {
			t.Errorf("answers: %v, expected 100 times none", counts)
		}
		must(t, d.ask(t.Context(), 1, "1"))
		d.expectHashes(t, 1)
	})
}

func TestAnAddressAtItsLimitIsRefusedExceptForAKnownPassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t)
		must(t, d.ask(t.Context(), 1, "1"))
		for i := range limiter.FailuresAtOnce {
			if err := d.ask(t.Context(), 1, fmt.Sprint("wrong", i)); !errors.Is(err, errWrong) {
				t.Fatalf("answer %d is %v, expected %v", i, err, errWrong)
			}
		}
		if err := d.ask(t.Context(), 1, "wrong"); !errors.Is(err, errLimited) {
			t.Errorf("the answer is %v, expected %v", err, errLimited)
		}
		must(t, d.ask(t.Context(), 1, "1"))
		time.Sleep(time.Second) // lets a second pass on the fake clock
		if err := d.ask(t.Context(), 1, "wrong"); !errors.Is(err, errWrong) {
			t.Errorf("a second later the answer is %v, expected %v", err, errWrong)
		}
	})
}

func TestABurstFromOneAddressHashesAsManyAsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		answers := d.askMany(t.Context(), 100, always(uint32(1)), func(i int) string { return fmt.Sprint("wrong", i) })
		synctest.Wait()
		close(d.hold)
		if counts := tally(answers, 100); counts[errWrong] != limiter.FailuresAtOnce || counts[errLimited] != 90 {
			t.Errorf("answers: %v", counts)
		}
		d.expectHashes(t, limiter.FailuresAtOnce)
	})
}

func TestAWrongPasswordThatIsRepeatedUsesUpNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t)
		for range 1000 {
			if err := d.ask(t.Context(), 1, "wrong"); !errors.Is(err, errWrong) {
				t.Fatalf("the answer is %v, expected %v", err, errWrong)
			}
		}
		d.expectHashes(t, 1)
		must(t, d.ask(t.Context(), 1, "1"))
	})
}

func TestTheLimitOfOneAddressDoesNotHitAnotherThatSharesItsCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		answers := d.askMany(t.Context(), 20, always(uint32(1)), func(i int) string { return fmt.Sprint("wrong", i) })
		synctest.Wait() // the first password is being hashed, and the others are waiting
		first := d.askMany(t.Context(), 1, always(uint32(1)), always("1"))
		synctest.Wait()
		second := d.askMany(t.Context(), 1, always(uint32(2)), always("1"))
		synctest.Wait()
		close(d.hold)
		tally(answers, 20)
		if err := <-second; err != nil {
			t.Errorf("the other address is refused: %v", err)
		}
		if err := <-first; err != nil && !errors.Is(err, errLimited) {
			t.Errorf("the address at its limit gets %v", err)
		}
	})
}

func TestACanceledRequestDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ctx, cancel := context.WithCancel(t.Context())
		gone := d.askMany(ctx, 1, always(uint32(1)), always("1"))
		stays := d.askMany(t.Context(), 1, always(uint32(2)), always("1"))
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, errGone) {
			t.Errorf("the answer is %v, expected %v", err, errGone)
		}
		close(d.hold)
		must(t, <-stays)
	})
}

func TestWaitingForACoreIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		const extra = 10
		answers := d.askMany(t.Context(), 1+maxWaiting+extra, func(i int) uint32 { return uint32(i) }, func(i int) string { return fmt.Sprint("wrong", i) })
		synctest.Wait()
		if len(answers) != extra {
			t.Errorf("%d were refused at once, expected %d", len(answers), extra)
		}
		time.Sleep(maxWait) // lets this time pass on the fake clock
		synctest.Wait()
		if len(answers) != extra+maxWaiting {
			t.Errorf("%d were refused in the end, expected %d", len(answers), extra+maxWaiting)
		}
		close(d.hold)
		if counts := tally(answers, 1+maxWaiting+extra); counts[errBusy] != extra+maxWaiting || counts[errWrong] != 1 {
			t.Errorf("answers: %v", counts)
		}
	})
}

func TestACheckUnderOldCredentialsDoesNotAnswerForNewOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.slots = make(chan struct{}, 2)
		old := d.askMany(t.Context(), 1, always(uint32(1)), always("new"))
		synctest.Wait()
		d.set = setOf(t, d.set, "ada:"+shaOfOne+"\n"+hashed(t, "ada", "new"))
		fresh := d.askMany(t.Context(), 1, always(uint32(1)), always("new"))
		synctest.Wait()
		close(d.hold)
		if err := <-old; !errors.Is(err, errWrong) {
			t.Errorf("the old credentials answer %v, expected %v", err, errWrong)
		}
		must(t, <-fresh)
	})
}

func TestAKnownPasswordNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.set.users["ada"][0].memory.set(d.digest("ada", "1"), time.Now())
		flood := d.askMany(t.Context(), 100, func(i int) uint32 { return uint32(i) }, func(i int) string { return fmt.Sprint("wrong", i) })
		synctest.Wait() // one password is being hashed, and the others are waiting
		must(t, d.ask(t.Context(), 1, "1"))
		close(d.hold)
		tally(flood, 100)
	})
}
