// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestTheFirstObstacleOfTheChildrenIsReported(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "web", errors.New("exceeded quota"))
	results := func(results ...ensure.Result) Outcome {
		return Outcome{Results: append([]ensure.Result{{Action: ensure.Unchanged}, {Action: ensure.Created}}, results...)}
	}
	for name, test := range map[string]struct {
		done    Outcome
		status  metav1.ConditionStatus
		reason  string
		message string
	}{
		"nothing is":                {results(), "True", "AsDeclared", ""},
		"a refusal":                 {Outcome{Err: refused, Held: 1}, "False", "Refused", "exceeded quota"},
		"trouble that passes":       {Outcome{Err: errors.New("timeout")}, "Unknown", "Applying", "timeout"},
		"a pause":                   {Outcome{Held: 2}, "False", "Paused", "while the object is paused"},
		"of another owner":          {results(ensure.Result{Action: ensure.Contested}, ensure.Result{Action: ensure.Taken, Message: "it is Helm's"}), "False", "NameTaken", "it is Helm's"},
		"a rival over a pod":        {Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}}, Contested: "kubectl"}, "False", "Contested", "kubectl"},
		"a rival":                   {results(ensure.Result{Action: ensure.Replaced}, ensure.Result{Action: ensure.Contested, Message: "argocd"}), "False", "Contested", "argocd"},
		"a child that is recreated": {results(ensure.Result{Action: ensure.Replaced}), "False", "Applying", "is being replaced"},
		"an event yet to come":      {results(ensure.Result{Action: ensure.Waiting}), "False", "Applying", "still applying"},
		"a conflict":                {Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}}, retry: true}, "False", "Applying", "still applying"},
		"a child going away":        {results(ensure.Result{Action: ensure.Waiting, Message: "held by a finalizer"}), "False", "Applying", "held by a finalizer"},
	} {
		t.Run(name, func(t *testing.T) {
			var list []metav1.Condition
			test.done.ReportChildren(condition.Set{Conditions: &list, Now: time.Now()}, "Children")
			if got := list[0]; got.Status != test.status || got.Reason != test.reason || !strings.Contains(got.Message, test.message) {
				t.Errorf("%s, %s, %q; expected %s, %s, %q", got.Status, got.Reason, got.Message, test.status, test.reason, test.message)
			}
		})
	}
}

func TestTheConditionOfThisGenerationStandsWhileAnEventIsOnItsWay(t *testing.T) {
	waiting := Outcome{Results: []ensure.Result{{Action: ensure.Waiting}}}
	for generation, want := range map[int64]metav1.ConditionStatus{3: metav1.ConditionTrue, 4: metav1.ConditionFalse} {
		list := []metav1.Condition{{Type: "Children", Status: metav1.ConditionTrue, Reason: "AsDeclared", ObservedGeneration: 3}}
		waiting.ReportChildren(condition.Set{Conditions: &list, Generation: generation, Now: time.Now()}, "Children")
		if list[0].Status != want {
			t.Errorf("generation %d: the condition said True of generation 3, expected %s now, got %s", generation, want, list[0].Status)
		}
	}
}
