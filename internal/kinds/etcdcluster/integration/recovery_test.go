// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func recoversBy(policy etcdv1beta2.RecoveryPolicy) option {
	return func(c *etcdv1beta2.EtcdCluster) {
		c.Spec.Recovery = &etcdv1beta2.Recovery{QuorumLoss: policy}
	}
}

// awaitRecovered waits until the cluster has recovered with the data of the given member, and has as many members as
// before.
func (s *site) awaitRecovered(from string) *etcdv1beta2.EtcdCluster {
	s.Helper()
	var c *etcdv1beta2.EtcdCluster
	operator.Until(s.T, "the cluster has gone on from "+from, func() error {
		c = s.get()
		if at := c.Status.Restore; at == nil || at.Phase != etcdv1beta2.PhaseRestored || at.Recovery == nil || at.Recovery.Member != from {
			return fmt.Errorf("the status is %+v", c.Status)
		}
		return nil
	})
	s.await("True AllMembersReady", "3 of 3")
	return s.get()
}

// lose deletes two of three pods, each with its emptyDir, and returns the third pod.
func (s *site) lose() corev1.Pod {
	s.Helper()
	pods := s.pods()
	s.delete(&pods[0])
	s.delete(&pods[1])
	return pods[2]
}

func TestAClusterThatHasLostItsMajorityGoesOnFromWhatIsLeft(t *testing.T) {
	s := newSite(t)
	s.create(recoversBy(etcdv1beta2.RecoveryAutomatic))
	before := s.awaitWhole()
	left := s.lose()
	after := s.awaitRecovered(left.Name)
	if after.Status.ClusterID == before.Status.ClusterID || after.Status.QuorumLoss != nil || after.Status.Restore.Recovery.MayBeLost == "" {
		t.Errorf("expected another cluster, and the status to say what may be lost, got %+v, %+v", after.Status, after.Status.Restore)
	}
	again := s.lose() // a recovered cluster can lose its quorum again
	s.awaitRecovered(again.Name)
}

func TestAClusterThatHasLostItsMajorityWaitsForAUserToWantThePlan(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	left := s.lose()
	c := s.await("False QuorumLost", "To recover from member "+left.Name, etcdv1beta2.RecoverAnnotation+"=")
	s.patch(c, `{"metadata":{"annotations":{"etcd.opcrew.io/recover":"000000000000"}}}`)
	s.await("False QuorumLost", c.Status.QuorumLoss.Digest)
	s.patch(c, `{"metadata":{"annotations":{"etcd.opcrew.io/recover":"`+c.Status.QuorumLoss.Digest+`"}}}`)
	s.awaitRecovered(left.Name)
}

func TestAClusterWithNothingLeftGoesOnFromTheBackupThatWasProven(t *testing.T) {
	s := newSite(t)
	s.create(recoversBy(etcdv1beta2.RecoveryAutomatic))
	id, now := s.awaitWhole().Status.ClusterID, metav1.Now()
	env.Apply(t, testenv.ProjectCRDs+"/etcd.database.coreos.com_etcdbackups.yaml")
	s.backedUp("unproven", nil)
	s.backedUp("anothers", &etcdv1beta2.BackupRecord{Object: "backups/anothers", Revision: 99, ClusterID: "00000000000000ff", SavedAt: &now})
	s.backedUp("proven", &etcdv1beta2.BackupRecord{Object: "backups/proven", Revision: 9, ClusterID: id, SavedAt: &now})
	left := s.lose()
	s.delete(&left)
	c := s.awaitRecovered("")
	if c.Status.Restore.Recovery.Backup != "proven" {
		t.Errorf("expected what was proven of this cluster, got %+v", c.Status.Restore.Recovery)
	}
}

// For about a minute after Nodes are deleted, the pods on them still exist. Meanwhile the members look lost for good,
// but they can come back on their claims.
func TestAClusterWhoseNodesAreDeletedComesBackOnItsClaims(t *testing.T) {
	s := newSite(t)
	s.create(withClaims, recoversBy(etcdv1beta2.RecoveryAutomatic))
	before := s.awaitWhole()
	env.Apply(t, testenv.ProjectCRDs+"/etcd.database.coreos.com_etcdbackups.yaml")
	s.backedUp("proven", &etcdv1beta2.BackupRecord{Object: "backups/proven", Revision: 9})
	pods := s.pods()
	s.takeNodes(pods)
	s.await("False QuorumLost", "enough members can still come back", "is gone; the member can restart once Kubernetes has deleted its pod")
	eventually.True(t, 3*time.Minute, "the members run elsewhere", func() error {
		for _, pod := range pods {
			if !store.Serving(pod.Name) {
				return fmt.Errorf("%s does not: %+v", pod.Name, s.get().Status.QuorumLoss)
			}
		}
		return nil
	})
	after := s.awaitWhole()
	if after.Status.ClusterID != before.Status.ClusterID || after.Status.Restore != nil || !slices.Equal(names(s.pods()), names(pods)) {
		t.Errorf("expected the same members, and no recovery, got %q after %q, %+v", names(s.pods()), names(pods), after.Status.Restore)
	}
}

func TestMembersWhoseVolumesWentWithTheirNodesAreGivenUp(t *testing.T) {
	s := newSite(t)
	s.create(withClaims, impatient, recoversBy(etcdv1beta2.RecoveryAutomatic))
	s.awaitWhole()
	pods := s.pods()
	for _, pod := range pods[:2] {
		s.onDisk(pod)
	}
	s.takeNodes(pods[:2])
	eventually.True(t, 3*time.Minute, "the plan is carried out", func() error {
		if at := s.get().Status; at.Restore == nil {
			return fmt.Errorf("what is said of the loss is %+v", at.QuorumLoss)
		}
		return nil
	})
	s.awaitRecovered(pods[2].Name)
}

// onDisk binds the volume of a member to the disk of its node.
func (s *site) onDisk(pod corev1.Pod) {
	s.Helper()
	claim := &corev1.PersistentVolumeClaim{}
	if err := env.Client.Get(s.Context(), client.ObjectKeyFromObject(&pod), claim); err != nil {
		s.Fatal(err)
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName}}
	s.patch(volume, `{"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
		{"key":"kubernetes.io/hostname","operator":"In","values":["`+pod.Spec.NodeName+`"]}]}]}}}}`)
}

// takeNodes turns off the machines of members and deletes their Nodes.
func (s *site) takeNodes(pods []corev1.Pod) {
	s.Helper()
	for _, pod := range pods {
		store.Hang(pod.Name)
	}
	for _, pod := range pods {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName}}
		if err := client.IgnoreNotFound(env.Client.Delete(s.Context(), node)); err != nil {
			s.Fatal(err)
		}
	}
}

// backedUp adds an EtcdBackup of the cluster. verified is the last verified backup in its status.
func (s *site) backedUp(name string, verified *etcdv1beta2.BackupRecord) {
	s.Helper()
	b := &etcdv1beta2.EtcdBackup{}
	b.Namespace, b.Name = s.ns, name
	b.Spec.EtcdCluster, b.Spec.StorageType = &etcdv1beta2.ClusterReference{Name: "db"}, etcdv1beta2.StorageS3
	b.Spec.S3 = &etcdv1beta2.S3Source{Path: "backups/" + name}
	operator.Until(s.T, "the server knows EtcdBackup", func() error { return env.Client.Create(s.Context(), b) })
	b.Status.Verified = verified
	if err := env.Client.Status().Update(s.Context(), b); err != nil {
		s.Fatal(err)
	}
}
