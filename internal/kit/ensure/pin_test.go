// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
)

// pinnedWeb declares the Deployment web with a pod template that is pinned to a key.
func pinnedWeb(key, image string, replicas int32) Child {
	child := web(func(d *appsv1ac.DeploymentApplyConfiguration, c *corev1ac.ContainerApplyConfiguration) {
		d.Spec.WithReplicas(replicas)
		c.WithImage(image)
	})
	child.Pin = &Pin{Path: "spec.template", Key: map[string]string{"size": key}}
	return child
}

// kept declares a child while another version of that child already exists. changes is true if the existing child must
// be changed.
func kept(t *testing.T, there, wanted Child) (in *intent, live *appsv1.Deployment, changes bool) {
	t.Helper()
	live = asServed(t, mustDeclare(t, shop(), there), &appsv1.Deployment{})
	in = mustDeclare(t, shop(), wanted)
	in.keep(live)
	drift, err := newComparer(clientgoscheme.Scheme).drift(in, live)
	if err != nil {
		t.Fatal(err)
	}
	return in, live, drift != nil || in.hash() != live.Annotations["opcrew.io/applied"]
}

func TestAnUpgradeAloneChangesNoPinnedPart(t *testing.T) {
	for name, test := range map[string]struct {
		wanted  Child
		changes bool
	}{
		"the same":                         {pinnedWeb("old", "web:1", 2), false},
		"another default of a new version": {pinnedWeb("old", "web:2", 2), false},
		"another key":                      {pinnedWeb("new", "web:2", 2), true},
		"another key with the same result": {pinnedWeb("new", "web:1", 2), true},
		"something else is changed":        {pinnedWeb("old", "web:2", 3), true},
	} {
		if _, _, changes := kept(t, pinnedWeb("old", "web:1", 2), test.wanted); changes != test.changes {
			t.Errorf("%s: expected a write %v, got %v", name, test.changes, changes)
		}
	}
}

func TestAChangeBesideAPinnedPartKeepsThePart(t *testing.T) {
	in, live, _ := kept(t, pinnedWeb("old", "web:1", 2), pinnedWeb("old", "web:2", 3))
	if err := in.carry(live); err != nil {
		t.Fatal(err)
	}
	applied := asServed(t, in, &appsv1.Deployment{})
	if got := applied.Spec.Template.Spec.Containers[0].Image; got != "web:1" {
		t.Errorf("expected the pods to stay at web:1 when a new version scales them, got %s", got)
	}
	if *applied.Spec.Replicas != 3 {
		t.Errorf("expected 3 replicas, got %d", *applied.Spec.Replicas)
	}
	if in.object.GetResourceVersion() == "" {
		t.Error("expected the version that the pods were seen at to be demanded")
	}
}

func TestDriftOfAPinnedPartIsRepairedByTheVersionThatMadeIt(t *testing.T) {
	in := mustDeclare(t, shop(), pinnedWeb("old", "web:1", 2))
	live := asServed(t, in, &appsv1.Deployment{})
	live.Spec.Template.Spec.Containers[0].Image = "web:evil"
	in.keep(live)
	if drift, err := newComparer(clientgoscheme.Scheme).drift(in, live); err != nil || drift == nil {
		t.Errorf("expected the image of another manager to be drift (%v)", err)
	}
}

func TestAChildThatIsRecreatedHasThePinnedPartOfTheOneBeforeIt(t *testing.T) {
	live := asServed(t, mustDeclare(t, shop(), pinnedWeb("old", "web:1", 2)), &appsv1.Deployment{})
	a := &Applier{Clock: clocktesting.NewFakePassiveClock(time.Now())}
	for name, test := range map[string]struct {
		key, image string
		remembered bool
	}{
		"for the same key, after an upgrade": {"old", "web:1", true},
		"for another key":                    {"new", "web:2", true},
		"in a process that knows of none":    {"old", "web:2", false},
	} {
		in := mustDeclare(t, shop(), pinnedWeb(test.key, "web:2", 3))
		a.predecessors.forget(in.contest())
		if test.remembered {
			a.predecessors.remember(in.contest(), live, a.Clock.Now())
		}
		if err := a.fill(in); err != nil {
			t.Fatal(err)
		}
		made := asServed(t, in, &appsv1.Deployment{})
		if got := made.Spec.Template.Spec.Containers[0].Image; got != test.image || *made.Spec.Replicas != 3 {
			t.Errorf("%s: expected 3 of %s, got %d of %s", name, test.image, *made.Spec.Replicas, got)
		}
		if version := in.object.GetResourceVersion(); version != "" {
			t.Errorf("%s: expected no version to be demanded of what is not there, got %s", name, version)
		}
		again := mustDeclare(t, shop(), pinnedWeb(test.key, "web:2", 3))
		if again.keep(made); again.hash() != in.hash() {
			t.Errorf("%s: expected no write at the next look", name)
		}
	}
}

func TestTheTrialOfAReplacementIsComplete(t *testing.T) {
	live := asServed(t, mustDeclare(t, shop(), pinnedWeb("old", "web:1", 2)), &appsv1.Deployment{})
	in := mustDeclare(t, shop(), pinnedWeb("old", "web:2", 2))
	in.keep(live)
	trial, err := in.heir(live)
	if err != nil {
		t.Fatal(err)
	}
	if _, found, _ := unstructured.NestedMap(trial.Object, "spec", "template"); !found || trial.GetResourceVersion() != "" {
		t.Errorf("expected the live template and no version, got %v", trial.Object)
	}
	if _, found, _ := unstructured.NestedMap(in.object.Object, "spec", "template"); found {
		t.Error("expected the declaration itself to stay as it was")
	}
}

func TestAPredecessorWhoseSuccessorNeverCameIsForgottenInTheEnd(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	p := &predecessors{}
	p.remember("first", &appsv1.Deployment{}, clock.Now())
	clock.SetTime(clock.Now().Add(2 * predecessorKept))
	p.remember("second", &appsv1.Deployment{}, clock.Now())
	if p.of("first") != nil || p.of("second") == nil {
		t.Errorf("expected the second alone, got %v", p.left)
	}
}
