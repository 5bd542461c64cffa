// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// newTenantsSite returns a test environment in which a tenant creates and edits the cluster, and opcrew checks the
// rights of that tenant.
func newTenantsSite(t *testing.T) *site {
	t.Helper()
	s := newSiteOf(t, 5, env.CheckingOperator)
	s.tenant = env.Tenant(t, s.ns, s.object())
	return s
}

// fromSecret sets an environment variable of the servers from a Secret.
func fromSecret(name string) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) {
		c.Spec.ExtraEnvVars = []redisv1alpha1.EnvVar{{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "token"},
		}}}
	}
}

func withGracePeriod(seconds int64) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) {
		c.Spec.RedisEnterpriseTerminationGracePeriodSeconds = &seconds
	}
}

func annotated(c *redisv1alpha1.RedisEnterpriseCluster) {
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, "example.com/note", "x")
}

func TestServersGoOnUntilARoleGrantsTheSecretThatTheirSuccessorsRead(t *testing.T) {
	s := newTenantsSite(t)
	s.create()
	s.awaitWhole()
	s.write(300)
	before := uids(s.pods())
	s.edit(fromSecret("bank"))
	s.await("False "+common.ReasonRequesterMayNot, s.tenant.MayNot("bank")...)
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	if diff := cmp.Diff(before, uids(s.pods())); diff != "" {
		t.Errorf("expected all servers to go on (-before +after):\n%s", diff)
	}
	s.write(300)

	s.tenant.Grant("get", "", "secrets", "bank")
	s.edit(withGracePeriod(61)) // without this edit, it could take a minute until opcrew checks the right again
	s.awaitWhole()
	for _, pod := range s.pods() {
		if !operator.ReadsSecret(&pod, "bank") {
			t.Errorf("expected %s to read the Secret, got %+v", pod.Name, pod.Spec.Containers)
		}
	}
	s.operator.ExpectNoWork(func() { s.edit(annotated) })
}

func TestATenantsClusterBecomesWholeAndNeedsNoReview(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newTenantsSite(t)
			s.create(options...)
			s.awaitWhole()
			s.operator.ExpectNoWork(func() { s.edit(annotated) })
			env.Rests(t)
		})
	}
}

func TestATenantGivesServersNoNameOfOthers(t *testing.T) {
	s := newTenantsSite(t)
	credentials := func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.ClusterCredentialSecretName = "bank" }
	for right, option := range map[string]option{
		"get secrets bank":                           credentials,
		"impersonate serviceaccounts robot":          func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.ServiceAccountName = "robot" },
		"use priorityclasses.scheduling.k8s.io high": func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.PriorityClassName = "high" },
	} {
		s.tenant.AwaitRefusal(right, s.object(option))
	}
	s.tenant.Grant("get", "", "secrets", "bank")
	s.tenant.AwaitAcceptance(s.object(credentials))
}

func TestAnUpgradeToTheChecksChangesNoServer(t *testing.T) {
	for name, options := range map[string][]option{"nothing of others": nil, "a Secret, and claims": {withClaims, fromSecret("bank")}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			install := env.WithoutPolicies(t, s.object())
			s.create(options...)
			s.awaitWhole()
			env.Settled(t, env.Audit.Mark(t))
			before := uids(s.pods())
			s.operator.Stop()
			install()
			mark := env.Audit.Mark(t)
			s.operator.StartChecking()
			if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
				t.Errorf("expected the upgrade to write nothing, got:\n%s", writes)
			}
			s.operator.ExpectNoWork(func() { s.edit(annotated) })
			if diff := cmp.Diff(before, uids(s.pods())); diff != "" || s.get().Annotations[common.RequesterAnnotation] != "" {
				t.Errorf("expected the servers as they were, without a requester (-before +after):\n%s", diff)
			}
			s.edit(sized(4)) // this change needs no right, because it adds no reference to another object
			s.awaitWhole()
		})
	}
}
