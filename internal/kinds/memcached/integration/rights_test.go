// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/api/common"
)

// newTenantsShop returns a shop in which a tenant creates and edits the Memcached, and the operator checks the
// requester's rights.
func newTenantsShop(t *testing.T) *shop {
	t.Helper()
	s := newShopOf(t, env.CheckingOperator)
	s.tenant = env.Tenant(t, s.ns, s.object(1))
	return s
}

func withPod(pod common.PodOverride) option {
	return func(m *cachev1alpha1.Memcached) { m.Spec.Pod = &pod }
}

func pulledWith(secret string) option {
	return withPod(common.PodOverride{ImagePullSecrets: []corev1.LocalObjectReference{{Name: secret}}})
}

func TestServersPullNoImageWithASecretOfOthersUntilARoleGrantsIt(t *testing.T) {
	s := newTenantsShop(t)
	s.create(2)
	s.awaitReady(2)
	before := s.children()
	s.edit(pulledWith("bank"))
	s.await(readyType, "False "+common.ReasonRequesterMayNot, s.tenant.MayNot("bank")...)
	env.Settled(t, env.Audit.Mark(t))
	if diff := cmp.Diff(before, s.children()); diff != "" {
		t.Errorf("expected all servers to go on (-before +after):\n%s", diff)
	}

	s.tenant.Grant("get", "", "secrets", "bank")
	s.edit(withSize(3)) // without this edit, opcrew might check the right again only a minute later
	s.awaitReady(3)
	set := &appsv1.StatefulSet{}
	if s.read("web", set); set.Spec.Template.Spec.ImagePullSecrets[0].Name != "bank" {
		t.Errorf("expected servers that pull with the Secret, got %+v", set.Spec.Template.Spec.ImagePullSecrets)
	}
	s.operator.ExpectNoWork(func() { s.edit(annotated("example.com/note", "x")) })
}

func TestATenantsServersBecomeReadyAndNeedNoReview(t *testing.T) {
	s := newTenantsShop(t)
	s.create(2)
	s.awaitReady(2)
	s.operator.ExpectNoWork(func() { s.edit(annotated("example.com/note", "x")) })
	env.Rests(t)
}

func TestATenantGivesServersNoAccountOrClassOfOthers(t *testing.T) {
	s := newTenantsShop(t)
	for right, pod := range map[string]common.PodOverride{
		"impersonate serviceaccounts robot":          {ServiceAccountName: "robot"},
		"use priorityclasses.scheduling.k8s.io high": {PriorityClassName: "high"},
		"use runtimeclasses.node.k8s.io sandbox":     {RuntimeClassName: "sandbox"},
	} {
		s.tenant.AwaitRefusal(right, s.object(1, withPod(pod)))
	}
	robot := &corev1.ServiceAccount{}
	robot.Namespace, robot.Name = s.ns, "robot"
	if err := env.Client.Create(t.Context(), robot); err != nil {
		t.Fatal(err)
	}
	s.tenant.Grant("impersonate", "", "serviceaccounts", "robot")
	s.tenant.AwaitAcceptance(s.object(1, withPod(common.PodOverride{ServiceAccountName: "robot"})))
	s.create(1, withPod(common.PodOverride{ServiceAccountName: "robot"}))
	s.awaitReady(1)
}
