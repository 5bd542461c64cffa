// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
	"github.com/opcrew/opcrew/test/testenv/loopback"
)

// soon and later are time limits for steps and for slot moves on a busy machine. No test waits for the whole time.
const (
	soon  = 3 * time.Minute
	later = 5 * soon
)

func TestThreePodsBecomeACluster(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
}

func TestAClusterIsScaledOutAndInUnderWritesAndNoClientNotices(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	w := o.write()
	o.scale(5)
	o.settled(later)
	o.scale(3)
	o.settled(later)
	o.shrink()
	o.settled(soon)
	w.spotless()
	o.handsOver(0, "a new operator finds no election that no replica has won")
}

func TestAPodThatLeftComesBackAtOnceAndNoClientNotices(t *testing.T) {
	o := operate(t, 4)
	o.settled(soon)
	w := o.write()
	left := o.pods[3]
	o.scale(3)
	o.settled(later)
	o.shrink()
	o.restart(loopback.Host(), left.servers()...)
	o.mu.Lock()
	o.pods, o.nodes = append(o.pods, left), 4
	o.mu.Unlock()
	o.settled(later)
	w.spotless()
}

func TestAllComeBackAtOtherAddresses(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	w := o.write()
	time.Sleep(time.Second)
	w.stop()
	for _, p := range o.pods {
		p.home.stop()
		p.guest.stop()
	}
	for _, p := range o.pods {
		o.restart(loopback.Host(), p.servers()...)
	}
	o.settled(soon)
	o.keeps(w)
}

func TestAPodTakesTheAddressOfAnother(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	hosts := []string{o.host(0), o.host(1), o.host(2)}
	for _, p := range o.pods {
		p.home.stop()
		p.guest.stop()
	}
	for i, p := range o.pods {
		o.restart(hosts[(i+1)%3], p.servers()...)
	}
	o.settled(soon)
}

func TestAGuestThatIsKilledComesBack(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	w := o.write()
	o.kill(o.pods[1].guest)
	o.restart(o.host(1), o.pods[1].guest)
	o.settled(soon)
	w.spotless()
}

func TestAHomeThatIsKilledTakesTheLeadBack(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	w := o.write()
	o.kill(o.pods[1].home)
	o.led(1, o.pods[2].guest)
	o.restart(o.host(1), o.pods[1].home)
	o.settled(soon)
	o.tookSteps("become primary by agreement")
	o.keeps(w)
}

func TestAHomeThatLostItsFolderIsReplacedAndItsOldIDForgotten(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	w := o.write()
	time.Sleep(time.Second)
	o.kill(o.pods[0].home)
	o.pods[0].home.wipe(t)
	o.restart(loopback.Host(), o.pods[0].home)
	o.settled(soon)
	o.tookSteps("become primary by agreement", "forget")
	o.keeps(w)
}

func TestAPodThatIsGoneFromAClusterOfTwoIsTakenOver(t *testing.T) {
	o := operate(t, 2)
	o.settled(soon)
	w := o.write()
	time.Sleep(time.Second)
	w.stop()
	o.kill(o.pods[0].servers()...)
	o.await(soon, "a takeover to be refused", refuses(ring.Fenced))
	o.fence(0)
	o.led(0, o.pods[1].guest)
	o.keeps(w)
}

func TestAMoveThatWasCutOffIsFinishedByTheNextOperator(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	w := o.write()
	o.rate = 20_000 // slow enough to interrupt the move in the middle
	o.scale(4)
	o.inTheMiddle()
	o.crash()
	o.rate = 0
	o.run()
	o.settled(later)
	w.spotless()
}

func TestAnEndOfAMoveIsKilledInItsMiddleAndNothingIsLost(t *testing.T) {
	for name, pod := range map[string]int{"the one that has the slots": 0, "the one that gets them": 3} {
		t.Run(name, func(t *testing.T) {
			o := operate(t, 3)
			o.settled(soon)
			w := o.write()
			time.Sleep(2 * time.Second)
			w.stop()
			o.rate = 20_000
			o.scale(4)
			o.inTheMiddle()
			o.kill(o.pods[pod].home)
			o.restart(o.host(pod), o.pods[pod].home)
			o.settled(later)
			o.keeps(w)
		})
	}
}

// inTheMiddle waits until a move has started: some slots are half moved, or a job has moved some.
func (o *operator) inTheMiddle() {
	o.t.Helper()
	o.await(later, "slots to be moved", func(view redis.View, _ ring.Ring, _ ring.Why) bool {
		open := 0
		for _, status := range view.Nodes {
			open += len(status.Migrating) + len(status.Jobs)
		}
		return view.Moving() && (open > 0 || view.Move.Moved > 0)
	})
}

func refuses(guard ring.Guard) func(redis.View, ring.Ring, ring.Why) bool {
	return func(_ redis.View, _ ring.Ring, why ring.Why) bool {
		for _, refusal := range why.Refusals {
			if refusal.Guard == guard {
				return true
			}
		}
		return false
	}
}

func (o *operator) host(pod int) string {
	host, _, _ := strings.Cut(o.pods[pod].home.address, ":")
	return host
}

func (o *operator) kill(servers ...*server) {
	for _, s := range servers {
		s.stop()
	}
}

// fence records that a pod is certainly gone.
func (o *operator) fence(pod int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone[pod] = true
}

// led waits until a server is the primary of a shard.
func (o *operator) led(shard int, by *server) {
	o.t.Helper()
	o.await(soon, "the "+string(by.place)+" to lead", func(view redis.View, wanted ring.Ring, _ ring.Why) bool {
		return ring.Shards(view, wanted)[shard].Leader == by.address && len(ring.Unserved(view, wanted)) == 0
	})
}

func (o *operator) tookSteps(like ...string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, words := range like {
		if steps := strings.Join(o.steps, "; "); !strings.Contains(steps, words) {
			o.t.Errorf("expected a step like %q among %s", words, steps)
		}
	}
}

// keeps expects that no acknowledged write is lost. Clients may have got errors.
func (o *operator) keeps(w *writer) {
	o.t.Helper()
	if lost := w.lost(o.client()); len(lost) > 0 {
		o.t.Errorf("%d of %d keys lost what was acknowledged, such as %s", len(lost), len(w.acked), lost[0])
	}
	o.t.Logf("%d writes, %d errors", w.writes, len(w.errs))
}
