// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// writesARun is the maximum number of writes for one run of an Activity. A run needs five: its finalizer, its pod, the
// release of the pod, and two statuses. If the command takes longer than half a second to start or end, the run needs
// two more.
const writesARun = 7

func TestAnActivityCostsSevenWritesAtMost(t *testing.T) {
	env.Apply(t, "config/cluster/activity_namespace.yaml", "config/cluster/activity_requester.yaml", "config/cluster/activity_rights.yaml")
	hosts := env.Nodes(t, 3+*objects/100, testenv.NodeSpec{Prefix: "chores"}) // a node can run 110 pods
	chore := func(i int) *egov1.Activity {
		a := &egov1.Activity{Spec: egov1.ActivitySpec{Command: "true", Host: hosts[i%len(hosts)]}}
		a.Namespace, a.Name = "default", fmt.Sprintf("chore-%04d", i)
		return a
	}
	awaitRequesters(t, chore)
	tb := newTable("Activity: %d objects", *objects)
	for _, d := range driversOf("activity") {
		run := &choreRun{process: d.start(t, "activity"), t: t, tb: tb, hosts: hosts, chore: chore}
		run.drive()
	}
	tb.print()
}

// awaitRequesters waits until the API server records in a new Activity the user who created it (its requester). The API
// server starts to do so only some time after the CRD was installed.
func awaitRequesters(t *testing.T, chore func(int) *egov1.Activity) {
	t.Helper()
	eventually.True(t, time.Minute, "the API server records requesters", func() error {
		a := chore(0)
		if err := env.Client.Create(t.Context(), a, client.DryRunAll); err != nil || a.Spec.Requester == nil {
			return fmt.Errorf("the requester is %v: %w", a.Spec.Requester, err)
		}
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		if err := env.Client.Get(t.Context(), client.ObjectKey{Name: "opcrew-activity-rights"}, binding); err != nil || time.Since(binding.CreationTimestamp.Time) < 12*time.Second {
			return fmt.Errorf("the policy is there since %s: %w", binding.CreationTimestamp, err)
		}
		return nil
	})
}

// choreRun is a benchmark run of an operator with Activities, each of which runs a command on a node.
type choreRun struct {
	*process
	t     *testing.T
	tb    *table
	hosts []string
	chore func(i int) *egov1.Activity
}

func (r *choreRun) drive() {
	r.calm(r.t, time.Second)
	empty := r.heap(r.t)
	r.createAll()
	r.resting(r.t, r.tb, "a heartbeat of every node", true, func() { env.Heartbeat(r.t, r.hosts...) })
	heap := r.heap(r.t)
	now, peak := r.resident(r.t)
	r.tb.set("heap; resident, at most", r.name, "%.0f MiB; %.0f MiB, %.0f MiB", heap, now, peak)
	r.tb.set("heap an object", r.name, "%.0f KiB", (heap-empty)*1024/float64(*objects))
	r.restarted(r.t, r.tb)
	r.deleteAll()
	r.stop(r.t)
}

func (r *choreRun) createAll() {
	begun := &beginnings{}
	ended := observe(r.t, &egov1.ActivityList{}, isReady, "default")
	defer ended.stop()
	begin, took, ok := time.Now(), time.Duration(0), false
	got := r.during(r.t, func() {
		concurrently(r.t, *objects, func(ctx context.Context, i int) error {
			begun.now(r.chore(i).Name)
			return env.Client.Create(ctx, r.chore(i))
		})
		var end time.Time
		end, ok = ended.done(*objects)
		took = end.Sub(begin)
		r.calm(r.t, 2*time.Second)
	})
	r.tb.set("until all have succeeded: time", r.name, "%.1f s", took.Seconds())
	r.tb.set("until all have succeeded: writes an object", r.name, "%.2f", float64(got.writes())/float64(*objects))
	r.tb.set("until all have succeeded: reads, reconciles an object; processor time", r.name, "%.1f, %.1f; %.1f s",
		float64(got.reads())/float64(*objects), float64(got.reconciles)/float64(*objects), got.cpu.Seconds())
	r.tb.set("create to end: p50, p99", r.name, "%s", ended.since(begun.at))
	if !ok || got.writes() > writesARun**objects {
		_, n := ended.count()
		r.t.Errorf("expected %d writes an object at most, got %d for %d, %d of which have succeeded: %v", writesARun, got.writes(), *objects, n, got.calls.Tally())
	}
	if pods := len(got.calls.Verb("patch").On("pods")); pods != 2**objects {
		r.t.Errorf("expected every pod to be made once and let go once, got %d writes of pods for %d Activities", pods, *objects)
	}
}

func (r *choreRun) deleteAll() {
	got := r.during(r.t, func() {
		concurrently(r.t, *objects, func(ctx context.Context, i int) error { return env.Client.Delete(ctx, r.chore(i)) })
		eventually.True(r.t, *limit, "all Activities are gone", func() error {
			left := &egov1.ActivityList{}
			if err := env.Client.List(r.t.Context(), left); err != nil || len(left.Items) > 0 {
				return fmt.Errorf("%d are left: %w", len(left.Items), err)
			}
			return nil
		})
	})
	r.tb.set("all are deleted: writes an object", r.name, "%.2f", float64(got.writes())/float64(*objects))
}
