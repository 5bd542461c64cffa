// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// fields counts the exported fields of a struct, and those of the structs that it contains or points to, except the
// records of nodes and pools.
func fields(of reflect.Type) int {
	total := 0
	for f := range of.Fields() {
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		record := inner == reflect.TypeFor[rollout.Node]() || inner == reflect.TypeFor[rollout.Pool]() || inner == reflect.TypeFor[time.Time]()
		switch {
		case !f.IsExported():
		case inner.Kind() == reflect.Struct && !record:
			total += fields(inner)
		default:
			total++
		}
	}
	return total
}

func TestTheInputOfARuleHasAtMostTenFields(t *testing.T) {
	if n := fields(reflect.TypeFor[rollout.Input]()); n > 10 {
		t.Errorf("expected at most ten fields, got %d", n)
	}
}

func TestAPhaseIsReadFromTheAnnotationsOfANode(t *testing.T) {
	const about = target
	for name, c := range map[string]struct {
		current, desired, state, wants, applied, about string
		want                                           rollout.Phase
	}{
		"a node without annotations":               {want: rollout.Idle},
		"a node that has its configuration":        {before, before, "Done", "", "", before, rollout.Idle},
		"an order that no agent has seen":          {before, target, "Done", "", "", before, rollout.Ordered},
		"the first order of a node":                {"", target, "", "", "", "", rollout.Ordered},
		"the agent checks or changes the host":     {before, target, "Working", "", "", about, rollout.Working},
		"the agent asks for a drain":               {before, target, "Working", "drain-" + target, "uncordon-" + before, about, rollout.WantsDrain},
		"the drain is confirmed":                   {before, target, "Working", "drain-" + target, "drain-" + target, about, rollout.Working},
		"a drain for an earlier order":             {before, target, "Working", "drain-" + newer, "", about, rollout.Working},
		"the agent is done":                        {target, target, "Done", "uncordon-" + target, "drain-" + target, about, rollout.WantsUncordon},
		"the operator has uncordoned the node":     {target, target, "Done", "uncordon-" + target, "uncordon-" + target, about, rollout.Idle},
		"the agent failed":                         {before, target, "Degraded", "drain-" + target, "drain-" + target, about, rollout.Failed},
		"the host cannot have the configuration":   {before, target, "Unreconcilable", "", "", about, rollout.Refused},
		"a failure before the present order":       {before, newer, "Degraded", "", "", about, rollout.Ordered},
		"an order to return, not yet confirmed":    {before, before, "Degraded", "", "", about, rollout.Ordered},
		"work on an order that was replaced":       {before, newer, "Working", "drain-" + target, "", about, rollout.Ordered},
		"an order to return while the agent works": {before, before, "Working", "drain-" + target, "", about, rollout.Ordered},
	} {
		annotations := map[string]string{
			mcfgv1.CurrentConfigAnnotation: c.current, mcfgv1.DesiredConfigAnnotation: c.desired, mcfgv1.StateAnnotation: c.state,
			mcfgv1.DesiredDrainAnnotation: c.wants, mcfgv1.LastAppliedDrainAnnotation: c.applied,
		}
		if got := rollout.PhaseOf(annotations, c.about); got != c.want {
			t.Errorf("%s: expected phase %q, got %q", name, c.want, got)
		}
	}
}

func TestAPoolIsReadFromItsObject(t *testing.T) {
	object := &mcfgv1.MachineConfigPool{}
	object.Name = "worker"
	if got := rollout.NewPool(object, target).Rollout; got != (rollout.Policy{Timeout: 10 * time.Minute, MaxFailures: 1}) {
		t.Errorf("expected the defaults, got %+v", got)
	}
	object.Spec.Rollout = &mcfgv1.Rollout{
		Soak: "1m", Canary: &mcfgv1.Canary{}, HealthGate: &mcfgv1.HealthGate{Timeout: "1h"}, MaxFailures: new(int32(3)), OnFailure: mcfgv1.FailureRollBack,
	}
	object.Status.RollBack = &mcfgv1.RollBack{From: target, To: before}
	object.Status.Configuration.Name = before
	got := rollout.NewPool(object, target)
	want := rollout.Policy{Canary: true, Soak: time.Minute, CanarySoak: time.Minute, Timeout: time.Hour, MaxFailures: 3, RollBack: true}
	if got.Rollout != want || got.RolledBack != target || got.Last != before {
		t.Errorf("expected %+v and the roll back, got %+v", want, got)
	}
	object.Spec.Rollout.Canary.Soak = "2h"
	if got := rollout.NewPool(object, target).Rollout; got.CanarySoak != 2*time.Hour || got.Soak != time.Minute {
		t.Errorf("expected a soak time of the canary of its own, got %+v", got)
	}
}

func TestAPoolIsPausedByItsSpecOrByTheAnnotation(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "": true, "false": false} {
		object := &mcfgv1.MachineConfigPool{}
		object.Annotations = map[string]string{common.PausedAnnotation: value}
		if got := rollout.NewPool(object, target).Paused; got != want {
			t.Errorf("the annotation %q: expected paused to be %t, got %t", value, want, got)
		}
	}
	object := &mcfgv1.MachineConfigPool{}
	object.Spec.Paused = true
	if !rollout.NewPool(object, target).Paused {
		t.Error("expected spec.paused to pause the pool")
	}
}

func TestAPausedPoolSaysHowToResumeIt(t *testing.T) {
	annotated := map[string]string{common.PausedAnnotation: "true"}
	for name, c := range map[string]struct {
		pool mcfgv1.MachineConfigPool
		want string
	}{
		"by its spec":       {mcfgv1.MachineConfigPool{Spec: mcfgv1.MachineConfigPoolSpec{Paused: true}}, "set spec.paused: false"},
		"by the annotation": {mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Annotations: annotated}}, "remove the annotation opcrew.io/paused"},
		"by both": {mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Annotations: annotated}, Spec: mcfgv1.MachineConfigPoolSpec{Paused: true}},
			"set spec.paused: false and remove the annotation opcrew.io/paused"},
	} {
		if got := rollout.NewPool(&c.pool, "rendered"); !got.Paused || got.Resume != c.want {
			t.Errorf("%s: expected %q, got %q", name, c.want, got.Resume)
		}
	}
}
