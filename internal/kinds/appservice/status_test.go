// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// isStarting makes one pod unready, as if it were still starting.
func isStarting(f facts) facts {
	f.rollout.Deployment.Status.AvailableReplicas--
	f.rollout.Pods[0].Status.Conditions = nil
	return f
}

func hasHolder(f facts) facts {
	f.nodePorts = workload.NodePorts{Holders: "nodePort 30002 belongs to Service other/a"}
	return f
}

// portTaken returns the outcome of a write that the API server rejected because the nodePort belongs to another
// Service.
func portTaken() kit.Outcome {
	path := field.NewPath("spec", "ports").Index(0).Child("nodePort")
	return kit.Outcome{Err: apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web", field.ErrorList{
		field.Invalid(path, 30002, "provided port is already allocated"),
	})}
}

func TestReadyIsTheFirstThatStandsInTheWay(t *testing.T) {
	const invalid = `spec.image: "just a image url" is not a valid image (invalid reference format); write an image such as registry.example.com/team/app:1.0`
	for name, test := range map[string]struct {
		app   *appv1.AppService
		facts facts
		done  kit.Outcome
		want  string
	}{
		"nothing":             {newApp(2), observed(2), unchanged, "True AllPodsReady: 2 of 2 pods are ready"},
		"nothing, at size 0":  {newApp(0), observed(0), unchanged, "True ScaledToZero: The spec requests no pods"},
		"pods that are made":  {newApp(2), facts{}, unchanged, "False Applying: The pods are being created"},
		"a pod that starts":   {newApp(2), isStarting(observed(2)), unchanged, "False Updating: 1 of 2 pods are ready"},
		"another owner":       {newApp(2), isStarting(observed(2)), done("Service", ensure.Taken, "Service shop/web belongs to Helm"), "False NameTaken: Service shop/web belongs to Helm"},
		"a contest":           {newApp(2), observed(2), done("Service", ensure.Contested, "again and again"), "False Contested: again and again"},
		"a failure":           {newApp(2), observed(2), kit.Outcome{Err: errors.New("timeout")}, "Unknown Applying: timeout"},
		"a pause":             {newApp(2), observed(2), kit.Outcome{Paused: true, Held: 1}, "False Paused: opcrew changes no child object while the object is paused by annotation opcrew.io/paused"},
		"a nodePort":          {newApp(2), observed(2), portTaken(), `False NodePortTaken: Service "web" is invalid: spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated`},
		"a nodePort's holder": {newApp(2), hasHolder(observed(2)), portTaken(), "False NodePortTaken: nodePort 30002 belongs to Service other/a; choose another port, or 0 for any free port"},
		"no image":            {newApp(2, withImage(placeholder)), facts{}, unchanged, "False InvalidImage: " + invalid},
		"no image any more":   {newApp(2, withImage(placeholder)), observed(2), unchanged, "False InvalidImage: " + invalid + "; the 2 running pods stay unchanged"},
		// Regression: if there were neither ports nor pods, no child was created, and Ready stayed at its initial value
		// forever.
		"no image, and nothing to be made": {newApp(1, withImage(placeholder), pending), facts{}, kit.Outcome{}, "False InvalidImage: " + invalid},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "Ready", test.want, conditionOf(reported(test.app, test.facts, test.done), appv1.AppServiceReady))
		})
	}
}

func TestTheStatusOfANewObjectAndOfOneThatRuns(t *testing.T) {
	for name, test := range map[string]struct {
		app   *appv1.AppService
		facts facts
		done  kit.Outcome
	}{
		"new":     {newApp(2, pending), facts{}, done("Deployment", ensure.Created, "")},
		"running": {newApp(2), observed(2), unchanged},
		"zero":    {newApp(0), observed(0), unchanged},
	} {
		golden.Check(t, "status-"+name+".yaml", reported(test.app, test.facts, test.done).Status)
	}
}

func TestAnObjectThatGoesDoesNotClaimToBeAsDeclared(t *testing.T) {
	going := newApp(2, pending)
	going.DeletionTimestamp = &metav1.Time{Time: someTime}
	if got := conditionOf(reported(going, observed(2), kit.Outcome{}), appv1.AppServiceChildrenReady); got != "Unknown Pending: Waiting for the operator" {
		t.Errorf("expected what was said of its children to stay, got %q", got)
	}
}

func TestTheScaleSubresourceSelectsThePods(t *testing.T) {
	a := reported(newApp(1), observed(1), unchanged)
	parsed, err := metav1.ParseToLabelSelector(a.Status.Selector)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the selector", identity(a).Selector, parsed.MatchLabels)
}

func TestAPodWakesTheObjectOfItsInstanceLabel(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.Labels = "shop", "web-0", identity(newApp(1)).Labels
	if got := ownerByLabels(t.Context(), pod); len(got) != 1 || got[0].String() != "shop/web" {
		t.Errorf("expected shop/web, got %v", got)
	}
	pod.Labels[nameLabel] = "memcached"
	if got := ownerByLabels(t.Context(), pod); len(got) > 0 {
		t.Errorf("expected a pod of another kind to wake no one, got %v", got)
	}
	pod.Labels = map[string]string{nameLabel: appName}
	if got := ownerByLabels(t.Context(), pod); len(got) > 0 {
		t.Errorf("expected a pod that names no object to wake no one, got %v", got)
	}
}

// Conditions must only have reasons that are documented for application kinds.
func TestConditionsHaveOneOfTheReasonsOfApplicationKinds(t *testing.T) {
	a := reported(newApp(2), observed(2), unchanged)
	for kind, want := range map[string]string{
		appv1.AppServiceChildrenReady: common.ReasonAsDeclared, appv1.AppServiceRolledOut: common.ReasonAllPodsReady, appv1.AppServiceAvailable: common.ReasonServing,
	} {
		if got := conditionOf(a, kind); len(got) < 5 || got[5:5+len(want)] != want {
			t.Errorf("%s: expected reason %s, got %q", kind, want, got)
		}
	}
}
