// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// newTenantsSite returns a test namespace whose EtcdBackup is created and edited by a tenant, a user who has no other
// rights. The operator checks the rights of the users who requested objects.
func newTenantsSite(t *testing.T) *site {
	t.Helper()
	s := newSiteOf(t, env.CheckingOperator)
	s.tenant = env.Tenant(t, s.ns, s.object())
	return s
}

func pulledWith(secret string) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.Pod = &etcdv1beta2.WorkerPolicy{ImagePullSecrets: []corev1.LocalObjectReference{{Name: secret}}}
	}
}

func TestABackupIsNotBegunUntilARoleGrantsTheSecretWithWhichItsImageIsPulled(t *testing.T) {
	s := newTenantsSite(t)
	s.create(pulledWith("bank"))
	s.await("False "+common.ReasonRequesterMayNot, s.tenant.MayNot("bank")...)
	s.awaitPods(0)
	s.tenant.Grant("get", "", "secrets", "bank")
	s.edit(verified(2)) // after an edit, opcrew checks the right to the Secret again at once, and not after a minute
	s.succeeds(s.awaitPod("save", 1))
	s.await("True Saved")
	s.operator.ExpectNoWork(func() { s.edit(annotated("example.com/note", "x")) })
}

func TestABackupThatRunsGoesOnWhenTheTenantNamesASecretOfOthers(t *testing.T) {
	s := newTenantsSite(t)
	s.create(every(3600))
	pod := s.awaitPod("save", 1)
	s.runs(pod)
	s.edit(pulledWith("bank"))
	env.Settled(t, env.Audit.Mark(t))
	if now := s.awaitPod("save", 1); now.UID != pod.UID {
		t.Errorf("expected pod %s to go on, got %s", pod.Name, now.Name)
	}
	s.succeeds(pod)
	s.awaitCount(1)
}

func TestATenantsBackupSucceedsAndNeedsNoReview(t *testing.T) {
	s := newTenantsSite(t)
	s.create()
	s.succeeds(s.awaitPod("save", 1))
	s.await("True Saved")
	s.operator.ExpectNoWork(func() { s.edit(annotated("example.com/note", "x")) })
	env.Rests(t)
}

func TestATenantSavesWithNoCredentialsOfOthersUntilARoleGrantsThem(t *testing.T) {
	s := newTenantsSite(t)
	for right, option := range map[string]option{
		"get secrets aws":                   withSecret("aws"),
		"get persistentvolumeclaims vault":  intoClaim("vault"),
		"impersonate serviceaccounts robot": func(b *etcdv1beta2.EtcdBackup) { b.Spec.Pod = &etcdv1beta2.WorkerPolicy{ServiceAccountName: "robot"} },
	} {
		s.tenant.AwaitRefusal(right, s.object(option))
	}
	s.made(secret("aws"))
	s.tenant.Grant("get", "", "secrets", "aws")
	s.tenant.AwaitAcceptance(s.object(withSecret("aws")))
	s.create(withSecret("aws"))
	s.succeeds(s.awaitPod("save", 1))
	s.await("True Saved")
	s.operator.ExpectNoWork(func() { s.edit(annotated("example.com/note", "x")) })
}
