// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
)

// tenancy are the facts of a tenant with instances whose Deployments are as they have it.
func tenancy(instances ...*customv1.MicroServiceDeploy) tenantFacts {
	f := tenantFacts{instances: instances, deployments: map[types.UID]*appsv1.Deployment{}}
	for _, m := range instances {
		f.deployments[m.UID] = newDeployment(m, mostPods(m))
	}
	return f
}

// bounded has a quota that allows some, of which some is used.
func (f tenantFacts) bounded(hard, used []string) tenantFacts {
	f.quota = &corev1.ResourceQuota{}
	f.quota.Spec.Hard, f.quota.Status.Hard, f.quota.Status.Used = quota(hard...), quota(hard...), quota(used...)
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
	unmade := tenancy(web)
	unmade.deployments = nil
	for name, test := range map[string]struct {
		f    tenantFacts
		want []string
	}{
		"nothing without instances":           {tenancy(), nil},
		"the sum of all":                      {tenancy(web, api), []string{"pods=7", "requests.cpu=7"}},
		"those that ask for none count too":   {tenancy(web, newInstance(of("api"), one, without(customv1.QuotaNone))), []string{"pods=7", "requests.cpu=7"}},
		"none where nobody asks for one":      {tenancy(newInstance(without(customv1.QuotaNone))), nil},
		"none where others are":               {foreign, nil},
		"none where all are idle":             {tenancy(newInstance(one, idle)), nil},
		"before there is a pod":               {unmade, []string{"pods=5", "requests.cpu=5"}},
		"raised at once":                      {tenancy(web).bounded([]string{"pods=2", "requests.cpu=2"}, nil).changing(), []string{"pods=9", "requests.cpu=9"}},
		"lowered when all has come to an end": {tenancy(web).bounded([]string{"pods=9", "requests.cpu=9"}, []string{"pods=5"}), []string{"pods=5", "requests.cpu=5"}},
		"not while a rollout goes on":         {tenancy(web).bounded([]string{"pods=12", "requests.cpu=3"}, nil).changing(), []string{"pods=12", "requests.cpu=9"}},
		"not below what is used":              {tenancy(web).bounded([]string{"pods=9", "requests.cpu=9"}, []string{"pods=6", "requests.cpu=5"}), []string{"pods=9", "requests.cpu=5"}},
		"what not all ask for goes at once":   {tenancy(web, newInstance(of("api"))).bounded([]string{"pods=9", "requests.cpu=9"}, nil).changing(), []string{"pods=11"}},
		"what all ask for comes":              {tenancy(web).bounded([]string{"pods=5"}, nil), []string{"pods=5", "requests.cpu=5"}},
		// Regression: pods of the old template were refused in the middle of the rollout.
		"what all ask for comes after the rollout": {tenancy(web).bounded([]string{"pods=5"}, nil).changing(), []string{"pods=9"}},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "hard", written(quota(test.want...)), written(test.f.hard()))
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

func TestTheTenantHasAQuotaAndCredentialsForAsLongAsAnInstanceWantsThem(t *testing.T) {
	ns := &corev1.Namespace{}
	ns.Name, ns.UID = "shop", "uid-of-shop"
	going := ns.DeepCopy()
	going.DeletionTimestamp = &metav1.Time{Time: someTime}
	for name, test := range map[string]struct {
		ns   *corev1.Namespace
		f    tenantFacts
		want int
	}{
		"neither":                   {ns, tenancy(), 0},
		"a quota":                   {ns, tenancy(newInstance()), 1},
		"both":                      {ns, tenancy(newInstance(needsAuth)), 2},
		"credentials of its own":    {ns, tenancy(newInstance(ownAuth)), 1},
		"credentials only":          {ns, tenancy(newInstance(needsAuth, without(customv1.QuotaNone))), 1},
		"one of two asks":           {ns, tenancy(newInstance(), newInstance(of("api"), needsAuth)), 2},
		"a namespace that is going": {going, tenancy(newInstance(needsAuth)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan := (&tenantReconciler{}).Plan(test.ns, test.f, someTime)
			same(t, "children", test.want, len(plan.Children))
			if goes := test.ns.DeletionTimestamp != nil; goes != (len(plan.Prune) == 0) {
				t.Errorf("expected what is not wanted to go, and nothing to be touched in a namespace that goes; got %d kinds", len(plan.Prune))
			}
		})
	}
}

// Regression: turning needAuth off and on again made another password, and every client
// was refused.
func TestCredentialsStayForAsLongAsThereIsAnInstance(t *testing.T) {
	f := tenantFacts{instances: []*customv1.MicroServiceDeploy{{}}}
	if f.asksForCredentials() {
		t.Error("expected none to be made that nobody asks for")
	}
	f.credentials.live = &corev1.Secret{}
	if !f.asksForCredentials() {
		t.Error("expected those that users know to stay while an instance does not ask for them")
	}
	if f.instances = nil; f.asksForCredentials() {
		t.Error("expected them to go with the last instance")
	}
}
