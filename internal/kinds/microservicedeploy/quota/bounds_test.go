// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/scaling"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// bounded adds the shared ResourceQuota with the given limits and usage.
func (t Tenant) bounded(hard, used []string) Tenant {
	q := &corev1.ResourceQuota{}
	q.Spec.Hard, q.Status.Hard, q.Status.Used = quota(hard...), quota(hard...), quota(used...)
	t.Quotas = map[Bound]*corev1.ResourceQuota{ByNamespace: q}
	return t
}

// changing simulates a rollout of the first MicroServiceDeploy.
func (t Tenant) changing() Tenant {
	t.Deployments[t.Instances[0].UID].Status.UpdatedReplicas--
	return t
}

func TestWhatTheTenantsQuotaAllows(t *testing.T) {
	one := asks("requests.cpu=1")
	web, api := newInstance(one, withReplicas(4)), newInstance(of("api"), one)
	foreign := tenancy(web)
	foreign.Others = true
	crowded, still := tenancy(web), tenancy(web).bounded([]string{"pods=2"}, nil)
	crowded.Leaving, still.Leaving = true, true
	unmade := tenancy(web)
	unmade.Deployments = nil
	for name, test := range map[string]struct {
		f    Tenant
		want []string
	}{
		"nothing without instances":                     {tenancy(), nil},
		"the sum of all":                                {tenancy(web, api), []string{"pods=7", "requests.cpu=7"}},
		"those that ask for none count too":             {tenancy(web, newInstance(of("api"), one, withQuota(customv1.QuotaNone))), []string{"pods=7", "requests.cpu=7"}},
		"none where no one asks for one":                {tenancy(newInstance(withQuota(customv1.QuotaNone))), nil},
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
		// Regression: during a rollout, the quota limited a resource that pods of the old template do not request, and
		// rejected them.
		"what all ask for comes after the rollout": {tenancy(web).bounded([]string{"pods=5"}, nil).changing(), []string{"pods=9"}},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "hard", written(quota(test.want...)), written(test.f.Hard(ByNamespace)))
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
	// Regression: a MicroServiceDeploy without a Deployment prevented the quota from ever being lowered.
	if !complete(nil) {
		t.Error("expected an instance without pods to hold nothing up")
	}
}

func TestAQuotaByPriorityClassCountsThePodsOfTheClassAlone(t *testing.T) {
	one := asks("requests.cpu=1")
	classed := withQuota(customv1.QuotaPriorityClass)
	web, api, plain := newInstance(one, classed, withReplicas(4)), newInstance(of("api"), one, classed), newInstance(of("plain"), one)
	foreign := tenancy(web)
	foreign.Others = true
	leaving := tenancy(newInstance(one, withReplicas(4)), api)
	leaving.Deployments[web.UID] = newDeployment(web, 4)
	leaving.Deployments[web.UID].Spec.Template.Spec.PriorityClassName = customv1.QuotaPriorityClassName
	for name, test := range map[string]struct {
		f    Tenant
		want []string
	}{
		"nothing where none asks for it":     {tenancy(plain), nil},
		"the sum of those that ask for it":   {tenancy(web, plain, api), []string{"pods=7", "requests.cpu=7"}},
		"others in the namespace are no bar": {foreign, []string{"pods=5", "requests.cpu=5"}},
		"pods that still have the class":     {leaving, []string{"pods=11", "requests.cpu=11"}},
	} {
		same(t, name, written(quota(test.want...)), written(test.f.Hard(ByClass)))
	}
	same(t, "what the namespace's own counts beside", written(quota("pods=9", "requests.cpu=9")), written(tenancy(web, plain, api).Hard(ByNamespace)))
	golden.Check(t, "quota-by-class.yaml", ByClass.Declare("shop", quota("pods=5", "requests.cpu=5")))
}

// tenancy returns a namespace with MicroServiceDeploys whose Deployments match their specs.
func tenancy(instances ...*customv1.MicroServiceDeploy) Tenant {
	f := Tenant{Instances: instances, Deployments: map[types.UID]*appsv1.Deployment{}}
	for _, m := range instances {
		f.Deployments[m.UID] = newDeployment(m, scaling.MostPods(m))
	}
	return f
}
