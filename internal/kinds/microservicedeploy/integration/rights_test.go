// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// newTenantsShop returns an environment in which an ordinary user, not an administrator, creates and edits the objects,
// and opcrew checks the rights of this user.
func newTenantsShop(t *testing.T) *shop {
	t.Helper()
	s := newShopOf(t, env.CheckingOperator)
	s.user = env.Tenant(t, s.ns, s.object())
	return s
}

// fromSecret sets an environment variable of the application from a Secret.
func fromSecret(name string) option {
	return func(m *customv1.MicroServiceDeploy) {
		m.Spec.Envs = []corev1.EnvVar{{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "token"},
		}}}
	}
}

func underAccount(name string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Pod = &common.PodOverride{ServiceAccountName: name} }
}

func TestPodsGoOnUntilARoleGrantsTheSecretThatTheirSuccessorsRead(t *testing.T) {
	s := newTenantsShop(t)
	s.create(withReplicas(2))
	s.awaitReady(2)
	before := s.all()
	s.edit(fromSecret("bank"))
	s.await(ready, "False "+common.ReasonRequesterMayNot, s.user.MayNot("bank")...)
	s.settled()
	env.Rests(t)
	if diff := cmp.Diff(before, s.all()); diff != "" {
		t.Errorf("expected all pods to go on (-before +after):\n%s", diff)
	}

	s.user.Grant("get", "", "secrets", "bank")
	s.edit(withReplicas(3)) // without this edit, the test would wait up to a minute until opcrew checks the right again
	s.awaitReady(3)
	for _, pod := range s.pods() {
		if !operator.ReadsSecret(&pod, "bank") {
			t.Errorf("expected %s to read the Secret, got %+v", pod.Name, pod.Spec.Containers)
		}
	}
	s.operator.ExpectNoWork(func() { s.edit(annotated("example.com/note", "x")) })
}

// The pods use a ServiceAccount, a configuration and shared credentials. opcrew creates these, so it must not check the
// user's rights to them.
func TestATenantsPodsBecomeReadyAndNeedNoReview(t *testing.T) {
	for name, options := range map[string][]option{
		"nothing": nil, "all that opcrew makes": {withConfig("a=1"), needAuth(true)}, "a Secret as configuration": {withConfig("a=1"), asSecret},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTenantsShop(t)
			s.create(append(options, withReplicas(2))...)
			s.awaitReady(2)
			s.operator.ExpectNoWork(func() { s.edit(annotated("example.com/note", "x")) })
			env.Rests(t)
		})
	}
}

func TestATenantGivesPodsNoNameOfOthers(t *testing.T) {
	s := newTenantsShop(t)
	for right, option := range map[string]option{
		"get secrets bank":                           configFrom("bank"),
		"get secrets users":                          authOf("users"),
		"impersonate serviceaccounts robot":          underAccount("robot"),
		"use domains.opcrew.io example.com":          hosted("v1"),
		"use nodeports.opcrew.io 30333":              atNodes(30333),
		"use priorityclasses.scheduling.k8s.io high": func(m *customv1.MicroServiceDeploy) { m.Spec.Pod = &common.PodOverride{PriorityClassName: "high"} },
	} {
		s.user.AwaitRefusal(right, s.object(option))
	}
	s.user.Grant("use", "opcrew.io", "domains", "example.com")
	s.user.AwaitAcceptance(s.object(hosted("v1")))
	s.create(hosted("v1"))
	s.awaitReady(1)
}
