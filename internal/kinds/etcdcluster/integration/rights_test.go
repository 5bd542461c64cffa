// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// newTenantsSite returns a site (namespace, nodes and operator) in which an ordinary user, the tenant, creates and
// edits the cluster. The operator checks this user's rights.
func newTenantsSite(t *testing.T) *site {
	t.Helper()
	s := newSiteOf(t, 4, env.CheckingOperator)
	s.tenant = env.Tenant(t, s.ns, s.object())
	return s
}

// fromSecret sets an environment variable of the members from a Secret.
func fromSecret(name string) option {
	return inPods(func(pod *etcdv1beta2.PodPolicy) {
		pod.EtcdEnv = []etcdv1beta2.EnvVar{{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "token"},
		}}}
	})
}

func labelled(value string) option {
	return inPods(func(pod *etcdv1beta2.PodPolicy) { pod.Labels = map[string]string{"example.com/team": value} })
}

func inPods(change func(*etcdv1beta2.PodPolicy)) option {
	return func(c *etcdv1beta2.EtcdCluster) {
		if c.Spec.Pod == nil {
			c.Spec.Pod = &etcdv1beta2.PodPolicy{}
		}
		change(c.Spec.Pod)
	}
}

func annotated(c *etcdv1beta2.EtcdCluster) {
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, "example.com/note", "x")
}

func (s *site) uids() map[string]types.UID {
	s.Helper()
	out := map[string]types.UID{}
	for _, pod := range s.pods() {
		out[pod.Name] = pod.UID
	}
	return out
}

// Regression: opcrew deleted a member's pod, or added a learner, and only then did the API server refuse the new pod.
func TestMembersGoOnUntilARoleGrantsTheSecretThatTheirSuccessorsRead(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newTenantsSite(t)
			s.create(options...)
			cluster, before := s.awaitWhole(), s.uids()
			s.edit(fromSecret("bank"))
			s.await("False "+common.ReasonRequesterMayNot, s.tenant.MayNot("bank")...)
			env.Settled(t, env.Audit.Mark(t))
			env.Rests(t)
			if diff := cmp.Diff(before, s.uids()); diff != "" {
				t.Errorf("expected all members to go on (-before +after):\n%s", diff)
			}
			if members := store.Members(string(cluster.UID)); len(members) != 3 {
				t.Errorf("expected no member to be added or removed, got %v", members)
			}

			s.tenant.Grant("get", "", "secrets", "bank")
			s.edit(labelled("a")) // this edit makes opcrew check the permission at once instead of after a minute
			s.awaitWhole()
			for _, pod := range s.pods() {
				if !operator.ReadsSecret(&pod, "bank") {
					t.Errorf("expected %s to read the Secret, got %+v", pod.Name, pod.Spec.Containers)
				}
			}
			s.operator.ExpectNoWork(func() { s.edit(annotated) })
		})
	}
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

func TestATenantGivesMembersNoCertificatesOfOthers(t *testing.T) {
	s := newTenantsSite(t)
	cluster := s.object(func(c *etcdv1beta2.EtcdCluster) {
		c.Spec.TLS = &etcdv1beta2.TLSPolicy{Static: &etcdv1beta2.StaticTLS{Member: &etcdv1beta2.MemberSecret{PeerSecret: "bank"}}}
	})
	s.tenant.AwaitRefusal("get secrets bank", cluster)
	s.tenant.Grant("get", "", "secrets", "bank")
	s.tenant.AwaitAcceptance(cluster)
}

func TestAnUpgradeToTheChecksChangesNoMember(t *testing.T) {
	for name, options := range map[string][]option{"nothing of others": {withClaims}, "a Secret": {withClaims, fromSecret("bank")}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			install := env.WithoutPolicies(t, s.object())
			s.create(options...)
			s.awaitWhole()
			env.Settled(t, env.Audit.Mark(t))
			before := s.uids()
			s.operator.Stop()
			install()
			mark := env.Audit.Mark(t)
			s.operator.StartChecking()
			if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
				t.Errorf("expected the upgrade to write nothing, got:\n%s", writes)
			}
			s.operator.ExpectNoWork(func() { s.edit(annotated) })
			if diff := cmp.Diff(before, s.uids()); diff != "" || s.get().Annotations[common.RequesterAnnotation] != "" {
				t.Errorf("expected the members as they were, without a requester (-before +after):\n%s", diff)
			}
			pods := s.pods() // if a member's pod is deleted, opcrew recreates it with the same settings
			s.delete(&pods[0])
			s.awaitWhole()
		})
	}
}
