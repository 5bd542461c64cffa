// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/guard/podsecurity"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func planned(a *appv1.AppService, f facts) kit.Plan { return planAt(a, f, someTime) }

// kindsOf returns the kinds of the children of a plan.
func kindsOf(t *testing.T, plan kit.Plan) []string {
	t.Helper()
	out := []string{}
	for _, child := range plan.Children {
		raw, err := json.Marshal(child.Object)
		if err != nil {
			t.Fatal(err)
		}
		var object metav1.TypeMeta
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatal(err)
		}
		out = append(out, object.Kind)
	}
	return out
}

// pods returns the Deployment in a plan.
func pods(t *testing.T, plan kit.Plan) ensure.Child {
	t.Helper()
	i := slices.Index(kindsOf(t, plan), "Deployment")
	if i < 0 {
		t.Fatalf("expected a Deployment, got %v", kindsOf(t, plan))
	}
	return plan.Children[i]
}

func TestTheChildrenOfTheArticlesObjectAndOfOneWithAllFields(t *testing.T) {
	for _, name := range []string{"article", "all-fields"} {
		t.Run(name, func(t *testing.T) {
			plan := planned(manifest(t, name+".yaml"), facts{})
			for i, kind := range []string{"service", "deployment", "poddisruptionbudget"} {
				golden.Check(t, name+"-"+kind+".yaml", plan.Children[i].Object)
			}
		})
	}
}

func TestAServiceStandsOnlyInFrontOfPortsAndABudgetOnlyOverMoreThanOnePod(t *testing.T) {
	port := withPort(common.Port{Port: 80})
	noSize := newApp(0)
	noSize.Spec.Size = nil
	for name, test := range map[string]struct {
		app  *appv1.AppService
		want []string
	}{
		"two pods with a port": {newApp(2, port), []string{"Service", "Deployment", "PodDisruptionBudget"}},
		"without ports":        {newApp(2), []string{"Deployment", "PodDisruptionBudget"}},
		"one pod":              {newApp(1, port), []string{"Service", "Deployment"}},
		"no pods":              {newApp(0, port), []string{"Service", "Deployment"}},
		"no size, which is 1":  {noSize, []string{"Deployment"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planned(test.app, facts{})
			same(t, "the children", test.want, kindsOf(t, plan))
			if len(plan.Prune) != 2 {
				t.Errorf("expected Services and budgets that are not declared any more to go, got %v", plan.Prune)
			}
		})
	}
}

func TestAnObjectThatGoesHasNoPlan(t *testing.T) {
	a := newApp(2, withPort(common.Port{Port: 80}))
	a.DeletionTimestamp = &metav1.Time{Time: someTime}
	if plan := planned(a, observed(2)); len(plan.Children) > 0 || len(plan.Prune) > 0 || plan.Again > 0 {
		t.Errorf("expected nothing to be done for an object that goes, got %+v", plan)
	}
}

func TestWithAnImageThatIsNoneWhatRunsStaysAndTheRestFollows(t *testing.T) {
	a := newApp(3, withImage(placeholder), withPort(common.Port{Port: 80}))
	same(t, "the children where no pods run yet", []string{"Service", "PodDisruptionBudget"}, kindsOf(t, planned(a, facts{})))

	child := pods(t, planned(a, observed(2)))
	if !slices.Equal(child.Carry, []string{"spec.template"}) || child.Pin != nil {
		t.Errorf("expected the template to be left as it is, got %+v", child)
	}
	object := child.Object.(*appsv1ac.DeploymentApplyConfiguration)
	if *object.Spec.Replicas != 3 {
		t.Errorf("expected the size to follow all the same, got %d", *object.Spec.Replicas)
	}
	// Regression: a bad image removed the pin of the pod template, so that reverting the image after an upgrade of
	// opcrew restarted all pods.
	if got := object.Annotations[common.PinnedAnnotation]; got != "settings.template" {
		t.Errorf("expected the pods to stay pinned, got %q", got)
	}
}

func TestPodsArePinnedToWhatTheyKnowOf(t *testing.T) {
	port := common.Port{Port: 80, TargetPort: "8080"}
	base := newApp(2, withPort(port))
	key := func(a *appv1.AppService) string {
		raw, err := json.Marshal(pods(t, planned(a, facts{})).Pin.Key)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	with := func(change func(*appv1.AppService)) *appv1.AppService {
		a := base.DeepCopy()
		change(a)
		return a
	}
	for name, test := range map[string]struct {
		app  *appv1.AppService
		same bool
	}{
		"the size":                       {with(func(a *appv1.AppService) { a.Spec.Size = new(int32(9)) }), true},
		"the nodePort":                   {with(func(a *appv1.AppService) { a.Spec.Ports[0].NodePort = new(int32(30002)) }), true},
		"the name of a port":             {with(func(a *appv1.AppService) { a.Spec.Ports[0].Name = "web" }), true},
		"the Service's port":             {with(func(a *appv1.AppService) { a.Spec.Ports[0].Port = 81 }), true},
		"the name of a port of the pods": {with(func(a *appv1.AppService) { a.Spec.Ports[0].TargetPort = "http" }), false},
		"what is spoken":                 {with(func(a *appv1.AppService) { a.Spec.Ports[0].AppProtocol = "http" }), true},
		"the image":                      {with(func(a *appv1.AppService) { a.Spec.Image = "nginx:1.27" }), false},
		"the environment":                {with(func(a *appv1.AppService) { a.Spec.Envs = []corev1.EnvVar{{Name: "A"}} }), false},
		"a port of the pods":             {with(func(a *appv1.AppService) { a.Spec.Ports[0].TargetPort = "8081" }), false},
		"a label of the pods":            {with(func(a *appv1.AppService) { a.Spec.Pod = &common.PodOverride{Labels: map[string]string{"a": "b"}} }), false},
		"the resources":                  {with(func(a *appv1.AppService) { a.Spec.Resources.Limits = map[corev1.ResourceName]common.Amount{"cpu": "1"} }), false},
	} {
		if got := key(base) == key(test.app); got != test.same {
			t.Errorf("%s: expected that it leaves the pods of an earlier version of opcrew alone to be %t", name, test.same)
		}
	}
	if base.Spec.Ports[0] != port {
		t.Error("expected the object itself to be left as it is")
	}
}

// The labels in the selector are immutable, and an override in spec.pod must not remove them from pods.
func TestAnOverrideCannotTakeAPodFromItsService(t *testing.T) {
	a := newApp(1)
	a.Spec.Pod = &common.PodOverride{Labels: map[string]string{nameLabel: "other", instanceLabel: "other", "app": "other", "team": "shop"}}
	labels := template(a).Labels
	for key, value := range identity(a).Labels {
		if labels[key] != value {
			t.Errorf("expected label %s=%s to stay, got %q", key, value, labels[key])
		}
	}
	if labels["team"] != "shop" {
		t.Errorf("expected the user's own label too, got %v", labels)
	}
}

func TestATokenIsMountedOnlyForAnAccountThatTheUserNames(t *testing.T) {
	a := newApp(1)
	if got := template(a).Spec.AutomountServiceAccountToken; got == nil || *got {
		t.Error("expected no token in pods that name no account")
	}
	a.Spec.Pod = &common.PodOverride{ServiceAccountName: "default"}
	if got := template(a).Spec.AutomountServiceAccountToken; got == nil || *got {
		t.Error("expected no token of the default account")
	}
	a.Spec.Pod = &common.PodOverride{ServiceAccountName: "shop"}
	if got := template(a).Spec.AutomountServiceAccountToken; got != nil {
		t.Errorf("expected the account to decide, got %t", *got)
	}
}

func restricted(a *appv1.AppService) { a.Spec.SecurityProfile = common.SecurityProfileRestricted }

func TestPodsMeetTheStandardOfTheirProfile(t *testing.T) {
	standards, err := podsecurity.NewGuard()
	if err != nil {
		t.Fatal(err)
	}
	article := manifest(t, "article.yaml")
	for name, a := range map[string]*appv1.AppService{"of the article": article, "restricted": newApp(1, restricted)} {
		child, _ := deployment(a, nil, false)
		pod := podtemplate.Convert[*corev1.PodTemplateSpec](template(a))
		if broken, err := standards.Broken(child.Security, pod); err != nil || len(broken) > 0 {
			t.Errorf("%s: expected its pods to be allowed, got %v (%v)", name, broken, err)
		}
		if broken, _ := standards.Broken(guard.Restricted, pod); (len(broken) > 0) != (a == article) {
			t.Errorf("%s: expected only a restricted one to meet the restricted standard, got %v", name, broken)
		}
	}
	if ensure.Hash(podSettings(newApp(1))) == ensure.Hash(podSettings(newApp(1, restricted))) {
		t.Error("expected pods to be replaced for another profile")
	}
}
