// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// bounded has a quota that allows some, of which some is used.
func (f tenantFacts) bounded(hard, used []string) tenantFacts {
	q := &corev1.ResourceQuota{}
	q.Spec.Hard, q.Status.Hard, q.Status.Used = quota(hard...), quota(hard...), quota(used...)
	f.quotas = map[bound]*corev1.ResourceQuota{byNamespace: q}
	return f
}

// changing has the Deployment of the first instance on its way.
func (f tenantFacts) changing() tenantFacts {
	f.deployments[f.instances[0].UID].Status.UpdatedReplicas--
	return f
}

func TestWhatTheTenantsQuotaAllows(t *testing.T) {
	one := asks("requests.cpu=1")
	web, api := newInstance(one, withReplicas(4)), newInstance(of("api"), one)
	foreign := tenancy(web)
	foreign.strangers = true
	crowded, still := tenancy(web), tenancy(web).bounded([]string{"pods=2"}, nil)
	crowded.leaving, still.leaving = true, true
	unmade := tenancy(web)
	unmade.deployments = nil
	for name, test := range map[string]struct {
		f    tenantFacts
		want []string
	}{
		"nothing without instances":                     {tenancy(), nil},
		"the sum of all":                                {tenancy(web, api), []string{"pods=7", "requests.cpu=7"}},
		"those that ask for none count too":             {tenancy(web, newInstance(of("api"), one, withQuota(customv1.QuotaNone))), []string{"pods=7", "requests.cpu=7"}},
		"none where nobody asks for one":                {tenancy(newInstance(withQuota(customv1.QuotaNone))), nil},
		"none where others are":                         {foreign, nil},
		"none yet while pods of an earlier instance go": {crowded, nil},
		"one that is there is raised all the same":      {still, []string{"pods=5", "requests.cpu=5"}},
		"none where all are idle":                       {tenancy(newInstance(one, idle)), nil},
		"before there is a pod":                         {unmade, []string{"pods=5", "requests.cpu=5"}},
		"raised at once":                                {tenancy(web).bounded([]string{"pods=2", "requests.cpu=2"}, nil).changing(), []string{"pods=9", "requests.cpu=9"}},
		"lowered when all has come to an end":           {tenancy(web).bounded([]string{"pods=9", "requests.cpu=9"}, []string{"pods=5"}), []string{"pods=5", "requests.cpu=5"}},
		"not while a rollout goes on":                   {tenancy(web).bounded([]string{"pods=12", "requests.cpu=3"}, nil).changing(), []string{"pods=12", "requests.cpu=9"}},
		"not below what is used":                        {tenancy(web).bounded([]string{"pods=9", "requests.cpu=9"}, []string{"pods=6", "requests.cpu=5"}), []string{"pods=9", "requests.cpu=5"}},
		"what not all ask for goes at once":             {tenancy(web, newInstance(of("api"))).bounded([]string{"pods=9", "requests.cpu=9"}, nil).changing(), []string{"pods=11"}},
		"what all ask for comes":                        {tenancy(web).bounded([]string{"pods=5"}, nil), []string{"pods=5", "requests.cpu=5"}},
		// Regression: pods of the old template were refused in the middle of the rollout.
		"what all ask for comes after the rollout": {tenancy(web).bounded([]string{"pods=5"}, nil).changing(), []string{"pods=9"}},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "hard", written(quota(test.want...)), written(test.f.hard(byNamespace)))
		})
	}
}

func TestADeploymentIsCompleteWhenAllItsPodsAreOfItsLastTemplate(t *testing.T) {
	for name, change := range map[string]func(*appsv1.Deployment){
		"not seen yet":      func(d *appsv1.Deployment) { d.Generation++ },
		"an old pod":        func(d *appsv1.Deployment) { d.Status.Replicas++ },
		"one is not made":   func(d *appsv1.Deployment) { d.Status.UpdatedReplicas-- },
		"without a number":  func(d *appsv1.Deployment) { d.Spec.Replicas = nil },
		"scaled, not begun": func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(9)) },
	} {
		d := newDeployment(newInstance(), 2)
		if !complete(d) {
			t.Fatal("expected a Deployment at rest to be complete")
		}
		if change(d); complete(d) {
			t.Errorf("%s: expected it not to be complete", name)
		}
	}
	// Regression: an instance that can have no pods kept the quota from ever being lowered.
	if !complete(nil) {
		t.Error("expected an instance without pods to hold nothing up")
	}
}

func TestAQuotaByPriorityClassCountsThePodsOfTheClassAlone(t *testing.T) {
	one := asks("requests.cpu=1")
	classed := withQuota(customv1.QuotaPriorityClass)
	web, api, plain := newInstance(one, classed, withReplicas(4)), newInstance(of("api"), one, classed), newInstance(of("plain"), one)
	foreign := tenancy(web)
	foreign.strangers = true
	leaving := tenancy(newInstance(one, withReplicas(4)), api)
	leaving.deployments[web.UID] = newDeployment(web, 4)
	leaving.deployments[web.UID].Spec.Template.Spec.PriorityClassName = customv1.QuotaPriorityClassName
	for name, test := range map[string]struct {
		f    tenantFacts
		want []string
	}{
		"nothing where none asks for it":     {tenancy(plain), nil},
		"the sum of those that ask for it":   {tenancy(web, plain, api), []string{"pods=7", "requests.cpu=7"}},
		"others in the namespace are no bar": {foreign, []string{"pods=5", "requests.cpu=5"}},
		"pods that still have the class":     {leaving, []string{"pods=11", "requests.cpu=11"}},
	} {
		same(t, name, written(quota(test.want...)), written(test.f.hard(byClass)))
	}
	same(t, "what the namespace's own counts beside", written(quota("pods=9", "requests.cpu=9")), written(tenancy(web, plain, api).hard(byNamespace)))
	golden.Check(t, "quota-by-class.yaml", byClass.declare("shop", quota("pods=5", "requests.cpu=5")))
}
