// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv"
)

// flapRounds is how often the pods become unready and then ready again.
const flapRounds = 3

// flap makes one pod of every object unready and then ready again, all at the same time.
func (r *ownerRun) flap() {
	if r.flaps == "" {
		return
	}
	transitions := 0
	got := r.during(r.t, func() {
		for range flapRounds {
			for _, status := range []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue} {
				reported := observe(r.t, r.list, func(o client.Object) bool { return isReady(o) == (status == corev1.ConditionTrue) }, r.namespaces...)
				r.makeReady(status)
				if _, ok := reported.done(*objects); !ok {
					_, n := reported.count()
					r.t.Fatalf("pods of %d objects became Ready=%s, but only %d objects report it", *objects, status, n)
				}
				reported.stop()
				transitions += *objects
			}
		}
		r.calm(r.t, 2*time.Second)
	})
	statuses := got.calls.Writes().On(r.resource + "/status")
	conflicts := got.calls.Where(func(c testenv.Call) bool { return c.Code == http.StatusConflict })
	r.tb.set("a pod of every object becomes unready and ready: statuses a transition, other writes, conflicts", r.name,
		"%.2f, %d, %d", float64(len(statuses))/float64(transitions), got.writes()-len(statuses), len(conflicts))
	if r.gated() && (len(statuses) > 2*transitions || len(conflicts) > 0) {
		r.t.Errorf("expected at most 2 writes of the status for each of %d transitions and no conflict, got %d and:\n%s", transitions, len(statuses), conflicts)
	}
}

// makeReady sets the condition Ready of all pods that have the label in r.flaps.
func (r *ownerRun) makeReady(status corev1.ConditionStatus) {
	for _, ns := range r.namespaces {
		pods := &corev1.PodList{}
		if err := env.Client.List(r.t.Context(), pods, client.InNamespace(ns), client.HasLabels{r.flaps}); err != nil {
			r.t.Fatal(err)
		}
		patch := []byte(`{"status":{"conditions":[{"type":"Ready","status":"` + string(status) + `"}]}}`)
		concurrently(r.t, len(pods.Items), func(ctx context.Context, i int) error {
			return env.Client.Status().Patch(ctx, &pods.Items[i], client.RawPatch(types.StrategicMergePatchType, patch))
		})
	}
}
