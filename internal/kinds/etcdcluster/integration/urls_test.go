// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// A modified etcd image, or a compromised member, can publish any client URL in etcd's member list.
func TestAMemberThatPublishesAURLOfAnotherHostIsReportedUntilItsPodIsReplaced(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	pods := s.pods()
	const elsewhere = "http://169.254.169.254:2379"
	store.Publish(pods[1].Name, elsewhere)
	words := []string{elsewhere, "is not the address of a pod of this cluster, so opcrew does not use it", "delete the pod of the member"}
	c := s.awaitCondition(etcdv1beta2.EtcdClusterMembersReady, "False "+etcdv1beta2.ReasonForeignURL, words...)
	s.await("False "+etcdv1beta2.ReasonForeignURL, words...)
	if !meta.IsStatusConditionTrue(c.Status.Conditions, etcdv1beta2.EtcdClusterAvailable) {
		t.Errorf("expected the other members to serve clients, got %+v", c.Status.Conditions)
	}
	env.Settled(t, env.Audit.Mark(t))
	if now := s.pods(); len(now) != 3 || now[1].UID != pods[1].UID {
		t.Errorf("expected opcrew to leave the member to the user, got pods %q", names(now))
	}
	s.delete(&pods[1])
	s.awaitWhole()
}
