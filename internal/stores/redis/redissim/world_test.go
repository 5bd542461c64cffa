// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

func TestWhomAReplicaCopiedThatDoesNotAnswerStaysKnown(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		guest := r.hosts[1] + ":6380"
		r.world.Stop(r.pod(1))
		var status redis.NodeStatus
		r.until(time.Minute, "it to be missed", func() bool {
			view, _ := r.prober.View(key)
			status = view.Nodes[guest]
			return status.Err != nil
		})
		if status.Source != r.hosts[0]+":6379" || status.PrimaryID == "" {
			t.Errorf("expected it to be taken to copy the home server of pod 0, got %q for %q", status.Source, status.PrimaryID)
		}
		r.start(1)
		r.settled(time.Minute)
	})
}

func TestServersFormAClusterAndAreAtRestThen(t *testing.T) {
	for _, pods := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprint(pods), func(t *testing.T) {
			rigged(t, pods, func(r *rig) {
				r.write(500)
				changes := r.world.Changes()
				for range 100 {
					r.reconcile()
				}
				r.settled(0)
				if r.world.Changes() != changes {
					t.Errorf("expected no command at rest, got %d", r.world.Changes()-changes)
				}
			})
		})
	}
}

func TestAHomeThatWasAwayLeadsAgain(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		r.write(300)
		r.stop(1)
		r.until(time.Minute, "its guest to be elected", func() bool { return r.world.Write(cluster, 300, 10) == nil })
		r.start(1)
		r.settled(time.Minute)
	})
}

func TestALostVolumeIsFilledAgain(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		r.write(300)
		r.stop(2)
		r.until(time.Minute, "its guest to be elected", func() bool { return r.world.Write(cluster, 300, 10) == nil })
		r.world.Wipe("rec-2/home")
		r.world.Wipe("rec-2/guest")
		r.start(2)
		r.settled(time.Minute)
	})
}

// All servers restart, and one primary has lost its volume. Its replica does not request votes until the operator
// forces an election, because the replica has not seen this primary since the restart.
func TestAllComeBackAndOneHasLostItsVolume(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		r.write(300)
		for i := range 3 {
			r.stop(i)
		}
		r.world.Wipe("rec-0/home")
		for i := range 3 {
			r.start(i)
		}
		r.settled(time.Minute)
		forced := func(step string) bool {
			return strings.HasSuffix(step, "be elected in place of a lost primary: <nil>")
		}
		if !slices.ContainsFunc(r.steps, forced) {
			t.Errorf("expected a replica to be made to ask for votes, the steps were:\n%s", strings.Join(r.steps, "\n"))
		}
	})
}

func TestAllComeBackAtOtherAddresses(t *testing.T) {
	rigged(t, 3, func(r *rig) {
		r.write(300)
		for i := range 3 {
			r.stop(i)
		}
		for i := range 3 {
			r.start(i)
		}
		r.settled(time.Minute)
	})
}

func TestAPodThatIsGoneForGoodFromAClusterOfTwoIsTakenOver(t *testing.T) {
	rigged(t, 2, func(r *rig) {
		r.write(300)
		r.stop(0)
		r.gone[0] = true
		r.until(time.Minute, "the other to take over", func() bool { return r.world.Write(cluster, 300, 10) == nil })
		r.world.Wipe("rec-0/home")
		r.world.Wipe("rec-0/guest")
		r.gone[0] = false
		r.start(0)
		r.settled(time.Minute)
	})
}
