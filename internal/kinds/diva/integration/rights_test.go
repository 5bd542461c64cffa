// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// newTenantsShop returns a shop (a test environment) whose tenant creates and edits the Diva. The operator of this shop
// checks whether the tenant has the necessary permissions.
func newTenantsShop(t *testing.T) *shop {
	t.Helper()
	s := newShopOf(t, env.CheckingOperator)
	s.tenant = env.Tenant(t, s.ns, s.object(1))
	return s
}

func fromSecret(name string) []corev1.EnvVar {
	return []corev1.EnvVar{{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "token"},
	}}}
}

func TestClientsAndManagersGoOnUntilARoleGrantsTheSecretThatTheirSuccessorsRead(t *testing.T) {
	for role, reads := range map[string]option{
		"client":  func(d *opsv1.Diva) { d.Spec.Client.Env = fromSecret("bank") },
		"manager": func(d *opsv1.Diva) { d.Spec.Manager.Env = fromSecret("bank") },
	} {
		t.Run(role, func(t *testing.T) {
			s := newTenantsShop(t)
			s.create(2)
			s.awaitReady(2)
			before := append(s.uids("client"), s.uids("manager")...)
			s.edit(reads)
			s.await(opsv1.DivaReady, "False "+common.ReasonRequesterMayNot, s.tenant.MayNot("bank")...)
			env.Settled(t, env.Audit.Mark(t))
			env.Rests(t)
			if diff := cmp.Diff(before, append(s.uids("client"), s.uids("manager")...)); diff != "" {
				t.Errorf("expected all pods to go on (-before +after):\n%s", diff)
			}

			s.tenant.Grant("get", "", "secrets", "bank")
			s.edit(withClients(3)) // this edit makes opcrew check the permission at once instead of after a minute
			s.awaitReady(3)
			for _, pod := range s.pods(role) {
				if !operator.ReadsSecret(&pod, "bank") {
					t.Errorf("expected %s to read the Secret, got %+v", pod.Name, pod.Spec.Containers)
				}
			}
			s.operator.ExpectNoWork(func() { s.edit(annotated("example.com/note", "x")) })
		})
	}
}

// Regression: opcrew reported that the tenant may not read the Secret with the client pods' host key, only because
// opcrew had not created this Secret yet.
func TestATenantsDivaBecomesReadyAndNeedsNoReview(t *testing.T) {
	s := newTenantsShop(t)
	mark := env.Audit.Mark(t)
	s.create(2)
	s.awaitReady(2)
	if reviews := env.Audit.Since(t, mark).By(env.User).On("subjectaccessreviews"); len(reviews) > 0 {
		t.Errorf("expected no review, as the pods use only what opcrew makes, got:\n%s", reviews)
	}
	s.operator.ExpectNoWork(func() { s.edit(annotated("example.com/note", "x")) })
	env.Rests(t)
}

func TestATenantGivesADivaNoNameOfOthers(t *testing.T) {
	s := newTenantsShop(t)
	keys := func(d *opsv1.Diva) { d.Spec.SSH = &opsv1.SSH{SecretRef: &opsv1.SecretRef{Name: "bank"}} }
	for right, option := range map[string]option{
		"get secrets bank": keys,
		"impersonate serviceaccounts robot": func(d *opsv1.Diva) {
			d.Spec.Manager.Pod = &common.PodOverride{ServiceAccountName: "robot"}
		},
		"use runtimeclasses.node.k8s.io sandbox": func(d *opsv1.Diva) {
			d.Spec.Client.Pod = &common.PodOverride{RuntimeClassName: "sandbox"}
		},
		"use nodeports.opcrew.io 30555": func(d *opsv1.Diva) {
			d.Spec.Manager.Ports = []common.Port{{Port: 80, NodePort: new(int32(30555))}}
		},
	} {
		s.tenant.AwaitRefusal(right, s.object(1, option))
	}
	s.tenant.Grant("get", "", "secrets", "bank")
	s.tenant.AwaitAcceptance(s.object(1, keys))
}
