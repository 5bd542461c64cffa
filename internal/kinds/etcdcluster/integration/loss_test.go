// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestAMemberWhoseVolumeWasEmptiedIsReplaced(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	victim := s.pods()[0]
	s.kubelets.Wipe(t.Context(), &victim)
	operator.Until(t, "another member is there instead", func() error {
		if slices.Contains(names(s.pods()), victim.Name) {
			return fmt.Errorf("pods %q", names(s.pods()))
		}
		return nil
	})
	s.awaitWhole()
	operator.Until(t, "there is a claim for each of three members", func() error {
		claims := &corev1.PersistentVolumeClaimList{}
		if err := env.Client.List(t.Context(), claims, client.InNamespace(s.ns)); err != nil || len(claims.Items) != 3 {
			return fmt.Errorf("there are %d (%w)", len(claims.Items), err)
		}
		return nil
	})
}

func TestTwoEmptiedVolumesOfThreeFormNoSecondHistory(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	for _, pod := range s.pods()[:2] {
		s.kubelets.Wipe(t.Context(), &pod)
	}
	s.await("False QuorumLost", "1 of 3 voters are healthy, 2 are needed", "VolumeLost", "only 1 of the voters can still come back")
}

func TestAllPodsDeletedAtOnceComeBackOnTheirClaims(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	before := s.awaitWhole()
	pods := s.pods()
	for i := range pods {
		s.delete(&pods[i])
	}
	operator.Until(t, "all pods are new", func() error {
		for _, pod := range s.pods() {
			if slices.ContainsFunc(pods, func(old corev1.Pod) bool { return old.UID == pod.UID }) {
				return fmt.Errorf("%s is old", pod.Name)
			}
		}
		return nil
	})
	if after := s.awaitWhole(); after.Status.ClusterID != before.Status.ClusterID || !slices.Equal(names(s.pods()), names(pods)) {
		t.Errorf("expected the same members, got %q after %q", names(s.pods()), names(pods))
	}
}

// loseAllPodsAtOnce deletes all pods while the cluster is paused. Without the pause, opcrew would replace the first pod
// on a slow machine before the last pod is deleted.
func (s *site) loseAllPodsAtOnce() {
	s.Helper()
	s.edit(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true })
	s.awaitCondition("Paused", "True Paused")
	pods := s.pods()
	for i := range pods {
		s.delete(&pods[i])
	}
	operator.Until(s.T, "all pods are gone", func() error {
		if left := s.pods(); len(left) > 0 {
			return fmt.Errorf("there are %q", names(left))
		}
		return nil
	})
	s.edit(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = false })
}

func TestWithoutClaimsAClusterThatLosesAllPodsIsNotBegunAgain(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	s.loseAllPodsAtOnce()
	s.await("False QuorumLost", "0 of 3 voters are healthy", "only 0 of the voters can still come back", "restore another backup with an EtcdRestore")
	if got := s.pods(); len(got) != 0 {
		t.Errorf("expected no pod to be made on an empty volume, got %q", names(got))
	}
}

func TestAMemberOnADeadNodeIsReplacedAfterAWhileAndNotBefore(t *testing.T) {
	s := newSite(t)
	s.create(withClaims, impatient)
	s.awaitWhole()
	victim := s.pods()[0]
	node := &corev1.Node{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: victim.Spec.NodeName}, node); err != nil {
		t.Fatal(err)
	}
	s.patch(node, `{"metadata":{"annotations":{"testenv.opcrew.io/down":"true"}}}`)
	store.Hang(victim.Name)
	s.awaitCondition(etcdv1beta2.EtcdClusterMembersReady, "False MemberNotReady")
	s.awaitCondition(etcdv1beta2.EtcdClusterMembersReady, "True AllMembersReady")
	if slices.Contains(names(s.pods()), victim.Name) {
		t.Errorf("expected %s to be replaced", victim.Name)
	}
}

func TestAClusterSleepsAndWakesWithTheSameMembers(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	before := s.awaitWhole()
	pods := names(s.pods())
	s.edit(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Hibernate = true })
	s.await("True Hibernating", "the claims of 3 members are kept")
	operator.Until(t, "no pod is left", func() error {
		if got := s.pods(); len(got) > 0 {
			return fmt.Errorf("there are %q", names(got))
		}
		return nil
	})
	s.edit(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Hibernate = false })
	if after := s.awaitWhole(); after.Status.ClusterID != before.Status.ClusterID || !slices.Equal(names(s.pods()), pods) {
		t.Errorf("expected the same members, got %q after %q", names(s.pods()), pods)
	}
}

func TestAPausedClusterIsLeftAlone(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	s.edit(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true })
	s.awaitCondition("Paused", "True Paused", "spec.paused: the object is paused, and 0 changes are held back")
	s.await("True AllMembersReady")
	s.edit(sized(5), func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true })
	s.awaitCondition(etcdv1beta2.EtcdClusterMembersReady, "False ScalingUp")
	if got := len(s.pods()); got != 3 {
		t.Errorf("expected three pods, got %d", got)
	}
	s.edit(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = false })
	if c := s.awaitWhole(); meta.FindStatusCondition(c.Status.Conditions, "Paused") != nil {
		t.Error("expected condition Paused to go with the pause")
	}
}

func TestADeletedClusterLeavesNothing(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	c := s.awaitWhole()
	s.delete(c)
	operator.Until(t, "nothing is left", func() error {
		for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.ServiceList{}, &corev1.PersistentVolumeClaimList{}} {
			if err := env.Client.List(t.Context(), list, client.InNamespace(s.ns), client.MatchingLabels{"etcd_cluster": "db"}); err != nil {
				return err
			}
			if n := lengthOf(list); n > 0 {
				return fmt.Errorf("%d of %T", n, list)
			}
		}
		return nil
	})
}

func lengthOf(list client.ObjectList) int {
	switch list := list.(type) {
	case *corev1.PodList:
		return len(list.Items)
	case *corev1.ServiceList:
		return len(list.Items)
	case *corev1.PersistentVolumeClaimList:
		return len(list.Items)
	}
	return -1
}
