// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestTheServersAnswerToAFailedTestIsRecognised(t *testing.T) {
	ns := env.Namespace(t)
	object := settingsOf(ns)
	object.Data = map[string]string{"mode": "fast"}
	create(t, object)
	widget := newWidget(t, ns, "w")
	const failing = `[{"op":"test","path":"/data/mode","value":"slow"},{"op":"replace","path":"/data/mode","value":"x"}]`
	for name, test := range map[string]struct {
		object client.Object
		patch  string
		failed bool
	}{
		"another value":             {object, failing, true},
		"a value that is not there": {object, `[{"op":"test","path":"/data/theirs","value":"1"}]`, true},
		"another uid":               {object, `[{"op":"test","path":"/metadata/uid","value":"x"}]`, true},
		"of a kind of ours":         {widget, `[{"op":"test","path":"/spec/size","value":7}]`, true},
		"an invalid label":          {object, `[{"op":"add","path":"/metadata/labels","value":{"a b":"1"}}]`, false},
		"an invalid value that speaks of tests": {object,
			`[{"op":"add","path":"/metadata/labels","value":{"a":"testing the server rejected our request"}}]`, false},
		"an invalid value of a kind of ours": {widget, `[{"op":"replace","path":"/spec/size","value":101}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := env.Client.Patch(t.Context(), test.object.DeepCopyObject().(client.Object), client.RawPatch(types.JSONPatchType, []byte(test.patch)))
			if !apierrors.IsInvalid(err) {
				t.Fatalf("error %v, expected 422", err)
			}
			if got := ensure.Outdated(err); got != test.failed {
				t.Errorf("taken for a failed test: %t, expected %t for %q", got, test.failed, err)
			}
		})
	}
	if got := current(t, object).Data["mode"]; got != "fast" {
		t.Errorf("mode %q, expected none of it to be done", got)
	}
}

// marking returns a patch that sets mode=fast in a ConfigMap of another owner.
func marking(object *corev1.ConfigMap, from string) kit.Patch {
	return kit.Patch{
		Object: object, Type: types.JSONPatchType, Intent: "fast",
		Data:   fmt.Appendf(nil, `[{"op":"test","path":"/data/mode","value":%q},{"op":"replace","path":"/data/mode","value":"fast"}]`, from),
		Fields: fieldpath.NewSet(fieldpath.MakePathOrDie("data", "mode")),
	}
}

func foreign(t *testing.T, namespace, mode string) *corev1.ConfigMap {
	t.Helper()
	object := settingsOf(namespace)
	object.Data = map[string]string{"mode": mode}
	create(t, object)
	return object
}

func TestAPatchOfAnotherObjectIsOneWrite(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	widget := l.widget("w")
	object := foreign(t, widget.Namespace, "slow")
	l.kind.plan = func(*Widget) kit.Plan { return kit.Plan{Patches: []kit.Patch{marking(object, "slow")}} }
	l.goesWell(widget, cost{"patch configmaps": 1, statusWrite: 1})
	if got := current(t, settingsOf(widget.Namespace)).Data["mode"]; got != "fast" {
		t.Errorf("mode %q, expected fast", got)
	}
	if _, sum := l.metric(t, "opcrew_writes_total", "action", "Patched"); sum != 1 {
		t.Errorf("%v patches counted, expected 1", sum)
	}
	if object.Data["mode"] != "slow" {
		t.Error("the object of the plan was changed: it may be the cache's own")
	}
}

func TestAPatchDecidedOnAnOldViewIsRetriedAndNothingFollowsIt(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	stepped := 0
	widget := l.widget("w")
	edit(t, "kubectl-edit", widget, `{"metadata":{"finalizers":["`+finalizer+`"]}}`)
	l.settles(widget)
	object := foreign(t, widget.Namespace, "medium")
	l.kind.plan = func(*Widget) kit.Plan {
		return kit.Plan{
			Patches: []kit.Patch{marking(object, "slow")},
			Step:    &kit.Step{Name: "step", Do: stepper(&stepped)},
			Release: finalizer,
			Events:  []kit.Event{{Reason: "Planned", Action: "Plan", Note: "x"}},
		}
	}
	for try := range 5 {
		result, err := l.reconciles(widget, cost{"patch configmaps": 1}) // no status write, because it would report success
		if want := 200 * time.Millisecond << try; err != nil || result.RequeueAfter != want {
			t.Fatalf("try %d gives %v (%v), expected it to be tried again after %s: no rival wrote", try+1, result, err, want)
		}
	}
	if stepped != 0 {
		t.Error("the step was taken after a conflict, expected it to wait for a new view")
	}
	if got := current(t, widget).Finalizers; len(got) != 1 {
		t.Errorf("finalizers %v, expected the object to be held: its cleaning up did not happen", got)
	}
	l.kind.plan = func(*Widget) kit.Plan {
		plan := kit.Plan{Patches: []kit.Patch{marking(object, "medium")}, Step: &kit.Step{Name: "step", Do: stepper(&stepped)}}
		plan.Events = []kit.Event{{Warning: true, Reason: "Planned", Action: "Plan", Note: "x"}}
		return plan
	}
	l.goesWell(widget, cost{"patch configmaps": 1, statusWrite: 1})
	if stepped != 1 {
		t.Errorf("%d steps, expected 1", stepped)
	}
	l.recorded("Warning Planned", "Normal AsWanted")
}

func TestAPatchThatIsRevertedAgainAndAgainIsAContest(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	widget := l.widget("w")
	object := foreign(t, widget.Namespace, "slow")
	l.kind.plan = func(*Widget) kit.Plan { return kit.Plan{Patches: []kit.Patch{marking(object, "slow")}} }
	for _, costs := range []cost{{"patch configmaps": 1, statusWrite: 1}, {"patch configmaps": 1}, {"patch configmaps": 1}} {
		l.goesWell(widget, costs)
		edit(t, "argocd", settingsOf(widget.Namespace), `{"data":{"mode":"slow"}}`)
	}
	edit(t, "kubectl-label", settingsOf(widget.Namespace), `{"metadata":{"labels":{"a":"1"}}}`)
	result, err := l.reconciles(widget, cost{"get configmaps": 1, statusWrite: 1})
	if err != nil || result.RequeueAfter != time.Minute {
		t.Errorf("the reconcile gives %v (%v), expected to look again after a minute", result, err)
	}
	want := `settings is changed back again and again by "argocd"; opcrew leaves it unchanged until `
	if ready := expectReady(t, widget, metav1.ConditionFalse, "Contested"); !strings.HasPrefix(ready.Message, want) {
		t.Errorf("message %q, expected %q", ready.Message, want)
	}
	l.clock.Step(time.Minute)
	if result, err = l.reconciles(widget, cost{"patch configmaps": 1, statusWrite: 1}); err != nil || result.RequeueAfter != 0 {
		t.Errorf("the reconcile gives %v (%v), expected it to try again after the wait", result, err)
	}
}

func TestARefusedPatchIsReportedEachTimeItIsTried(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	widget := l.widget("w")
	object := foreign(t, widget.Namespace, "slow")
	patch := marking(object, "slow")
	patch.Data = []byte(`[{"op":"add","path":"/metadata/labels","value":{"a b":"1"}}]`)
	l.kind.plan = func(*Widget) kit.Plan { return kit.Plan{Patches: []kit.Patch{patch}} }
	for try, costs := range []cost{{"patch configmaps": 1, statusWrite: 1}, {"patch configmaps": 1}, {"patch configmaps": 1}, {"patch configmaps": 1}} {
		if _, err := l.reconciles(widget, costs); !apierrors.IsInvalid(err) || !strings.HasPrefix(err.Error(), "patch settings: ") {
			t.Errorf("try %d gives %v, expected the refusal", try+1, err)
		}
	}
	expectReady(t, widget, "False", "Refused")
	if _, sum := l.metric(t, "opcrew_writes_total", "action", "Patched"); sum != 0 {
		t.Errorf("%v patches counted, expected none", sum)
	}
}

// A refused independent patch must not delay other work, and must not be tried again at every event.
func TestTheRefusalOfAnIndependentPatchIsReportedAndDelaysNothing(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	stepped := 0
	widget := l.widget("w")
	object := foreign(t, widget.Namespace, "slow")
	refused := marking(object, "slow")
	refused.Data = []byte(`[{"op":"add","path":"/metadata/labels","value":{"a b":"1"}}]`)
	aside := refused
	l.kind.plan = func(*Widget) kit.Plan {
		return kit.Plan{
			Independent: []kit.Patch{aside}, Step: &kit.Step{Name: "step", Do: stepper(&stepped)},
			Events: []kit.Event{{Reason: "Planned", Action: "Plan", Note: "x"}}, Again: 5 * time.Second,
		}
	}
	look := func(want time.Duration, costs cost) {
		t.Helper()
		if result, err := l.reconciles(widget, costs); err != nil || result.RequeueAfter != want {
			t.Errorf("the reconcile gives %v (%v), expected to look again after %s", result, err, want)
		}
	}
	look(5*time.Second, cost{"patch configmaps": 1, statusWrite: 1})
	for range 3 {
		look(5*time.Second, cost{})
	}
	if ready := expectReady(t, widget, "False", "Refused"); !strings.HasPrefix(ready.Message, "patch settings: ") {
		t.Errorf("message %q, expected it to report the refusal", ready.Message)
	}
	if stepped != 4 {
		t.Errorf("%d steps, expected one with each reconcile", stepped)
	}
	l.recorded("Normal Planned", "Warning Refused", "Normal Planned", "Normal Planned", "Normal Planned")
	l.clock.Step(time.Minute)
	look(5*time.Second, cost{"patch configmaps": 1})
	edit(t, "user", widget, `{"spec":{"size":7}}`)
	l.settles(widget)
	look(5*time.Second, cost{"patch configmaps": 1, statusWrite: 1})
	aside = marking(object, "slow")
	aside.Intent = "another"
	look(5*time.Second, cost{"patch configmaps": 1, statusWrite: 1})
	if got := current(t, settingsOf(widget.Namespace)).Data["mode"]; got != "fast" {
		t.Errorf("mode %q, expected another patch to be made at once", got)
	}
}

func TestAnIndependentPatchIsMadeWhateverFailedBefore(t *testing.T) {
	for name, step := range map[string]func(context.Context) error{
		"a step that fails":      func(context.Context) error { return errors.New("no route to host") },
		"a step that is not now": func(context.Context) error { return kit.ErrNotNow },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, env.Namespace(t), setup{})
			widget := l.widget("w")
			object := foreign(t, widget.Namespace, "slow")
			l.kind.plan = func(*Widget) kit.Plan {
				return kit.Plan{Independent: []kit.Patch{marking(object, "slow")}, Step: &kit.Step{Name: "step", Do: step}}
			}
			if _, err := l.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(widget)}); (err != nil) != (name == "a step that fails") {
				t.Errorf("unexpected outcome of the step: %v", err)
			}
			if got := current(t, settingsOf(widget.Namespace)).Data["mode"]; got != "fast" {
				t.Errorf("mode %q, expected the patch to be made all the same", got)
			}
		})
	}
}
