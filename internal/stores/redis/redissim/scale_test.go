// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

func TestAClusterIsScaledAndKeepsWhatWasWritten(t *testing.T) {
	for name, version := range map[string]redis.Version{"by keys": {Number: "7.0.15"}, "by jobs": {Number: "9.1.2", Valkey: true}, "by jobs of Redis": {Number: "8.4.0"}} {
		t.Run(name, func(t *testing.T) {
			riggedOf(t, version, 3, func(r *rig) { scaled(r, version.HasJobs()) })
		})
	}
}

func TestEmptiedPodsLeaveOnceNoClientNeedsThemAnyMore(t *testing.T) {
	for name, test := range map[string]struct {
		asks        time.Duration // how long a client still uses an old slot map after the move
		least, most time.Duration // how long it may take until the pods have left
	}{
		"no client has an old map":        {0, 2 * time.Second, 6 * time.Second},
		"a client has it for a while":     {5 * time.Second, 6 * time.Second, 11 * time.Second},
		"a client never asks for another": {time.Hour, 15 * time.Second, 19 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			rigged(t, 5, func(r *rig) {
				r.write(1000)
				r.scale(3)
				if took := r.leave(test.asks); took < test.least || took > test.most {
					r.Errorf("expected pods to leave %s to %s after their slots, got %s", test.least, test.most, took)
				}
				if lost := r.world.Lost(cluster); len(lost) > 0 {
					r.Errorf("expected all that was written to be there, %d keys are not", len(lost))
				}
			})
		})
	}
}

// A slot migration job continues when the operator that started it ends. The next operator must wait for the job, and
// then move the remaining slots.
func TestAJobOfAnEarlierOperatorIsWaitedFor(t *testing.T) {
	riggedOf(t, redis.Version{Number: "9.1.2", Valkey: true}, 3, func(r *rig) {
		r.write(1000)
		r.world.JobLooks = 40
		r.scale(4)
		r.until(time.Minute, "a job to go on", func() bool {
			view, _ := r.prober.View(key)
			for _, status := range view.Nodes {
				if len(status.Jobs) > 0 {
					return true
				}
			}
			return false
		})
		if err := r.prober.Take(r.Context(), key, redis.StopMove{}); err != nil {
			r.Fatal(err)
		}
		r.until(time.Minute, "the job to be waited for", func() bool {
			return slices.ContainsFunc(r.why.Refusals, func(refusal ring.Refusal) bool {
				return strings.Contains(refusal.Message, "are moved by a job of")
			})
		})
		r.settled(5 * time.Minute)
	})
}

func TestAShrinkForWhichThereIsNoMemoryIsRefused(t *testing.T) {
	rigged(t, 4, func(r *rig) {
		if err := r.world.Write(cluster, 290, 10<<20); err != nil { // each of the four pods has 1 GiB
			t.Fatal(err)
		}
		for range 20 { // the last read may be two seconds old
			r.reconcile()
		}
		r.scale(3)
		for range 100 {
			r.reconcile()
		}
		refused := slices.ContainsFunc(r.why.Refusals, func(refusal ring.Refusal) bool { return refusal.Guard == ring.Memory })
		if !refused || r.world.Opened(cluster) {
			t.Errorf("expected the shrink to be refused for want of memory, got %v after %s", r.why.Refusals, strings.Join(r.steps, "\n"))
		}
	})
}
