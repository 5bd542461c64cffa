// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/scaling"
	"github.com/opcrew/opcrew/internal/kit"
)

// tenancy returns the facts about a namespace with MicroServiceDeploys whose Deployments are complete.
func tenancy(instances ...*customv1.MicroServiceDeploy) facts {
	f := facts{Tenant: quota.Tenant{Instances: instances, Deployments: map[types.UID]*appsv1.Deployment{}}}
	for _, m := range instances {
		n := scaling.MostPods(m)
		d := &appsv1.Deployment{}
		d.Namespace, d.Name, d.Spec.Replicas = m.Namespace, names.Child(m), &n
		d.Status = appsv1.DeploymentStatus{Replicas: n, UpdatedReplicas: n}
		f.Deployments[m.UID] = d
	}
	return f
}

// planTenantAt returns the plan for the shared objects of a namespace.
func planTenantAt(ns *corev1.Namespace, f facts, now time.Time) kit.Plan {
	r := &reconciler{}
	return r.Plan(ns, f, r.Decide(ns, f, now))
}

func TestTheTenantHasAQuotaAndCredentialsForAsLongAsAnInstanceNeedsThem(t *testing.T) {
	ns := &corev1.Namespace{}
	ns.Name, ns.UID = "shop", "uid-of-shop"
	going := ns.DeepCopy()
	going.DeletionTimestamp = &metav1.Time{Time: someTime}
	for name, test := range map[string]struct {
		ns   *corev1.Namespace
		f    facts
		want int
	}{
		"neither":                   {ns, tenancy(), 0},
		"a quota":                   {ns, tenancy(newInstance()), 1},
		"both":                      {ns, tenancy(newInstance(needsAuth)), 2},
		"credentials of its own":    {ns, tenancy(newInstance(ownAuth)), 1},
		"credentials only":          {ns, tenancy(newInstance(needsAuth, withQuota(customv1.QuotaNone))), 1},
		"one of two asks":           {ns, tenancy(newInstance(), newInstance(of("api"), needsAuth)), 2},
		"a namespace that is going": {going, tenancy(newInstance(needsAuth)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planTenantAt(test.ns, test.f, someTime)
			same(t, "children", test.want, len(plan.Children))
			if goes := test.ns.DeletionTimestamp != nil; goes != (len(plan.Prune) == 0) {
				t.Errorf("expected what is not wanted to go, and nothing to be touched in a namespace that goes; got %d kinds", len(plan.Prune))
			}
		})
	}
}

// Regression: when needAuth was switched off and on again, opcrew generated another password, so clients could no
// longer log in.
func TestCredentialsStayForAsLongAsThereIsAnInstance(t *testing.T) {
	f := facts{Tenant: quota.Tenant{Instances: []*customv1.MicroServiceDeploy{{}}}}
	if f.asksForCredentials() {
		t.Error("expected none to be made that no one asks for")
	}
	f.credentials.Live = &corev1.Secret{}
	if !f.asksForCredentials() {
		t.Error("expected those that users know to stay while an instance does not ask for them")
	}
	if f.Instances = nil; f.asksForCredentials() {
		t.Error("expected them to go with the last instance")
	}
}
