// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/scaling"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// there returns a Deployment with the given replicas. Its annotation records the number of pods before it became idle.
func there(replicas int32, remembered string) workload.Rollout {
	d := newDeployment(newInstance(), replicas)
	if remembered != "" {
		d.Annotations[scaling.AwakeAnnotation] = remembered
	}
	return workload.Rollout{Deployment: d}
}

func TestHowManyPodsThereAreToBeAndWhoDecides(t *testing.T) {
	none, three := workload.Rollout{}, withReplicas(3)
	for name, test := range map[string]struct {
		m      *customv1.MicroServiceDeploy
		r      workload.Rollout
		scaler bool
		want   scaling.Scale
	}{
		"plain, new":                      {newInstance(three), none, false, scaling.Scale{Replicas: 3, Spread: true}},
		"plain, of the default":           {newInstance(), none, false, scaling.Scale{Replicas: 1}},
		"plain":                           {newInstance(three), there(5, ""), false, scaling.Scale{Replicas: 3, Spread: true}},
		"plain, of none":                  {newInstance(withReplicas(0)), there(5, ""), false, scaling.Scale{}},
		"autoscaled, new":                 {newInstance(three, autoscaled), none, false, scaling.Scale{Replicas: 3, Live: true, Autoscaler: true, Spread: true}},
		"autoscaled":                      {newInstance(three, autoscaled), there(5, ""), true, scaling.Scale{Live: true, Autoscaler: true, Spread: true}},
		"turned on":                       {newInstance(three, autoscaled), there(3, ""), false, scaling.Scale{Live: true, Autoscaler: true, Spread: true}},
		"turned off, its scaler is there": {newInstance(three), there(5, ""), true, scaling.Scale{Replicas: 3, Live: true, Spread: true}},
		"turned off":                      {newInstance(three), there(5, ""), false, scaling.Scale{Replicas: 3, Spread: true}},
		"autoscaled from 0 replicas":      {newInstance(withReplicas(0), autoscaled), there(0, ""), false, scaling.Scale{}},
		"to 0 replicas, scaler is there":  {newInstance(withReplicas(0), autoscaled), there(4, ""), true, scaling.Scale{Live: true}},
		"from 0 replicas":                 {newInstance(three, autoscaled), there(0, ""), false, scaling.Scale{Replicas: 3, Autoscaler: true, Spread: true}},
		"idle, the scaler goes first":     {newInstance(three, autoscaled, idle), there(5, ""), true, scaling.Scale{Live: true, Awake: 5, Spread: true}},
		"idle, then the pods":             {newInstance(three, autoscaled, idle), there(5, "5"), false, scaling.Scale{Awake: 5}},
		"idle":                            {newInstance(three, autoscaled, idle), there(0, "5"), false, scaling.Scale{Awake: 5}},
		"idle from its beginning":         {newInstance(three, autoscaled, idle), none, false, scaling.Scale{Awake: 3}},
		"idle, of more by now":            {newInstance(withReplicas(7), autoscaled, idle), there(0, "5"), false, scaling.Scale{Awake: 7}},
		"idle, of less by now":            {newInstance(three, upTo(4), idle), there(0, "5"), false, scaling.Scale{Awake: 4}},
		// Regression: the status of an idle MicroServiceDeploy announced a number of pods, but another number started
		// later.
		"idle without a scaler":          {newInstance(three, idle), there(5, ""), false, scaling.Scale{Awake: 3}},
		"idle without a scaler, of 0":    {newInstance(withReplicas(0), idle), there(0, "5"), false, scaling.Scale{}},
		"idle, of 0 replicas":            {newInstance(withReplicas(0), autoscaled, idle), there(0, "5"), false, scaling.Scale{}},
		"idle, of one pod":               {newInstance(autoscaled, idle), there(1, ""), true, scaling.Scale{Live: true, Awake: 1}},
		"woken":                          {newInstance(three, autoscaled), there(0, "5"), false, scaling.Scale{Replicas: 5, Autoscaler: true, Spread: true}},
		"woken, of less by now":          {newInstance(three, upTo(4)), there(0, "5"), false, scaling.Scale{Replicas: 4, Autoscaler: true, Spread: true}},
		"woken, of more by now":          {newInstance(withReplicas(7), autoscaled), there(0, "5"), false, scaling.Scale{Replicas: 7, Autoscaler: true, Spread: true}},
		"woken, hostile memory":          {newInstance(three, autoscaled), there(0, "-99999999999"), false, scaling.Scale{Replicas: 3, Autoscaler: true, Spread: true}},
		"woken without a scaler":         {newInstance(three), there(0, "5"), false, scaling.Scale{Replicas: 3, Spread: true}},
		"one pod that never gets a mate": {newInstance(upTo(1)), there(1, ""), true, scaling.Scale{Live: true, Autoscaler: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got := scaling.Decide(test.m, test.r, test.scaler)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(scaling.Scale{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("not as expected (-expected +found):\n%s", diff)
			}
		})
	}
}

func TestHowManyPodsThereAreToBeInTheEnd(t *testing.T) {
	for name, test := range map[string]struct {
		s    scaling.Scale
		r    workload.Rollout
		want int32
	}{
		"ours":                              {scaling.Scale{Replicas: 3}, there(5, ""), 3},
		"theirs":                            {scaling.Scale{Replicas: 3, Live: true, Autoscaler: true}, there(5, ""), 5},
		"theirs, before there is any":       {scaling.Scale{Replicas: 3, Live: true, Autoscaler: true}, workload.Rollout{}, 3},
		"ours, once the autoscaler is away": {scaling.Scale{Replicas: 3, Live: true}, there(5, ""), 3},
		"none, once the autoscaler is away": {scaling.Scale{Live: true, Awake: 5}, there(5, ""), 0},
	} {
		if got := test.s.Wanted(test.r); got != test.want {
			t.Errorf("%s: expected %d, got %d", name, test.want, got)
		}
	}
}

func TestTheAutoscalerHasTheDefaultMetricOrThoseOfTheUser(t *testing.T) {
	golden.Check(t, "autoscaler.yaml", scaling.Autoscaler(newInstance(withReplicas(4), autoscaled)))
	m := newInstance(upTo(2))
	m.Spec.Metrics = manifest(t, "all-fields.yaml").Spec.Metrics
	golden.Check(t, "autoscaler-metrics.yaml", scaling.Autoscaler(m))
}

func TestTheHighestNumberOfPodsIsTwiceTheLeastAndThreeAtLeast(t *testing.T) {
	for least, want := range map[int32]int32{0: 3, 1: 3, 2: 4, 3: 6, 1000: 2000} {
		if got := names.MaxReplicas(newInstance(withReplicas(least))); got != want {
			t.Errorf("from %d: expected up to %d, got %d", least, want, got)
		}
	}
	if got := names.MaxReplicas(newInstance(withReplicas(2), upTo(9))); got != 9 {
		t.Errorf("expected the user's own number, got %d", got)
	}
}
