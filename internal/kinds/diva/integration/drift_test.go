// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestDriftOfEachChildIsRepairedWithOneWrite(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	s.bringTo("client")
	s.bringTo("manager")
	env.Settled(t, env.Audit.Mark(t))
	list, keys := &corev1.ConfigMap{}, s.serverSecret()
	s.read("ops-inventory", list)
	for _, test := range []struct {
		resource, name string
		object         client.Object
		drift          string
		repaired       func(client.Object) bool
	}{
		{"services", "ops-client", &corev1.Service{}, `{"spec":{"publishNotReadyAddresses":false}}`, func(o client.Object) bool {
			return o.(*corev1.Service).Spec.PublishNotReadyAddresses
		}},
		{"configmaps", "ops-inventory", &corev1.ConfigMap{}, `{"data":{"hosts":"elsewhere"}}`, func(o client.Object) bool {
			return o.(*corev1.ConfigMap).Data["hosts"] == list.Data["hosts"]
		}},
		{"secrets", "ops-sshd", &corev1.Secret{}, `{"stringData":{"authorizedKeys":"another owner's"}}`, func(o client.Object) bool {
			return string(o.(*corev1.Secret).Data["authorizedKeys"]) == string(keys.Data["authorizedKeys"])
		}},
		{"statefulsets", "ops-client", &appsv1.StatefulSet{}, `{"spec":{"replicas":3}}`, func(o client.Object) bool {
			return *o.(*appsv1.StatefulSet).Spec.Replicas == 2
		}},
		{"deployments", "ops-manager", &appsv1.Deployment{}, `{"spec":{"replicas":0}}`, func(o client.Object) bool {
			return *o.(*appsv1.Deployment).Spec.Replicas == 1
		}},
		{"networkpolicies", "ops-client", &networkingv1.NetworkPolicy{}, `{"spec":{"ingress":[{}]}}`, func(o client.Object) bool {
			return len(o.(*networkingv1.NetworkPolicy).Spec.Ingress) == 2
		}},
		{"poddisruptionbudgets", "ops-client", &policyv1.PodDisruptionBudget{}, `{"spec":{"maxUnavailable":2}}`, func(o client.Object) bool {
			return o.(*policyv1.PodDisruptionBudget).Spec.MaxUnavailable.IntValue() == 1
		}},
	} {
		t.Run(test.resource, func(t *testing.T) {
			s := &shop{T: t, ns: s.ns, name: s.name}
			mark := env.Audit.Mark(t)
			s.read(test.name, test.object)
			patch := client.RawPatch(types.MergePatchType, []byte(test.drift))
			if err := env.Client.Patch(t.Context(), test.object, patch, client.FieldOwner("another")); err != nil {
				t.Fatal(err)
			}
			operator.Until(t, test.resource+" "+test.name+" is as declared again", func() error {
				s.read(test.name, test.object)
				if !test.repaired(test.object) {
					return fmt.Errorf("it is %+v", test.object)
				}
				return nil
			})
			writes := env.Settled(t, mark).Writes().Where(func(c testenv.Call) bool { return c.Resource != "divas" })
			if len(writes) != 1 || writes[0].Resource != test.resource {
				t.Errorf("expected one write, of %s %s, got:\n%s", test.resource, test.name, writes)
			}
			s.awaitReady(2)
		})
	}
}

func TestAClaimOfAnotherOwnerIsLeftAloneAndReported(t *testing.T) {
	s := newShop(t)
	theirs := &corev1.PersistentVolumeClaim{}
	theirs.Namespace, theirs.Name = s.ns, "ops-extra"
	theirs.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	theirs.Spec.Resources.Requests = corev1.ResourceList{"storage": resource.MustParse("1Gi")}
	if err := env.Client.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	s.create(1)
	s.await(opsv1.DivaReady, "False NameTaken", "PersistentVolumeClaim "+s.ns+"/ops-extra already exists and has no owner")
	if got := s.claims()["ops-extra"]; got != "1Gi" {
		t.Errorf("expected it to stay, got %s", got)
	}
}
