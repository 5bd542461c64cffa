// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// restore creates an EtcdRestore of the cluster from a bucket, with the given Secret if any.
func (s *site) restore(secret string) *etcdv1beta2.EtcdRestore {
	return s.restoreFrom("backups/db", secret)
}

func (s *site) restoreFrom(path, secret string) *etcdv1beta2.EtcdRestore {
	s.Helper()
	r := &etcdv1beta2.EtcdRestore{}
	r.Namespace, r.Name, r.Spec.EtcdCluster.Name = s.ns, "db", "db"
	r.Spec.BackupStorageType, r.Spec.S3 = etcdv1beta2.StorageS3, &etcdv1beta2.S3Source{Path: path, AWSSecret: secret}
	if err := env.Client.Create(s.Context(), r); err != nil {
		s.Fatal(err)
	}
	return r
}

// awaitRestored waits until all members belong to the restored cluster, and no pods or claims of the old cluster exist.
func (s *site) awaitRestored(r *etcdv1beta2.EtcdRestore, before []corev1.Pod) *etcdv1beta2.EtcdCluster {
	s.Helper()
	var c *etcdv1beta2.EtcdCluster
	operator.Until(s.T, "the restored cluster is whole", func() error {
		c = s.get()
		switch {
		case c.Status.Lineage != string(r.UID) || c.Status.Restore == nil || c.Status.Restore.Phase != etcdv1beta2.PhaseRestored:
			return fmt.Errorf("the status is %+v", c.Status)
		case slices.ContainsFunc(s.pods(), func(p corev1.Pod) bool {
			return slices.Contains(names(before), p.Name)
		}):
			return fmt.Errorf("pods %q, and before %q", names(s.pods()), names(before))
		}
		return nil
	})
	s.await("True AllMembersReady")
	return s.get()
}

func TestAClusterGoesOverToWhatWasRestoredAndNothingEarlierIsLeft(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(options...)
			before, pods := s.awaitWhole(), s.pods()
			after := s.awaitRestored(s.restore(""), pods)
			if after.Status.ClusterID == before.Status.ClusterID {
				t.Error("expected another cluster of etcd")
			}
			operator.Until(t, "as many claims are left as there are members, or none", func() error {
				claims, want := &corev1.PersistentVolumeClaimList{}, 3*len(options)
				if err := env.Client.List(t.Context(), claims, client.InNamespace(s.ns)); err != nil || len(claims.Items) != want {
					return fmt.Errorf("there are %d, expected %d (%w)", len(claims.Items), want, err)
				}
				return nil
			})
			s.edit(sized(1)) // the restored cluster can be changed like any other cluster
			operator.Until(t, "it shrinks", func() error {
				if n := len(s.pods()); n != 1 {
					return fmt.Errorf("%d pods", n)
				}
				return nil
			})
		})
	}
}

func TestAClusterThatHasLostAllComesBackFromABackup(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	pods := s.pods()
	for i := range pods {
		s.delete(&pods[i])
	}
	if c := s.await("False QuorumLost", "restore another backup with an EtcdRestore"); c.Status.Phase != etcdv1beta2.PhaseFailed {
		t.Errorf("expected phase Failed, got %s", c.Status.Phase)
	}
	if c := s.awaitRestored(s.restore(""), pods); c.Status.Phase != etcdv1beta2.PhaseRunning {
		t.Errorf("expected phase Running, got %s", c.Status.Phase)
	}
}

func TestAClusterThatIsMadeAfterItsRestoreBeginsWithTheBackup(t *testing.T) {
	s := newSite(t)
	r := s.restore("")
	s.create()
	s.awaitRestored(r, nil)
}

func TestARestoreThatLacksItsSecretHoldsNothingUpAndBeginsWhenThatIsThere(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	r, pods := s.restore("late"), s.pods()
	s.delete(&pods[1])
	operator.Until(t, "the member is recreated", func() error {
		now := s.pods()
		if !slices.Equal(names(now), names(pods)) || slices.ContainsFunc(now, func(p corev1.Pod) bool { return p.UID == pods[1].UID }) {
			return fmt.Errorf("pods %q", names(now))
		}
		return nil
	})
	if c := s.await("True AllMembersReady"); c.Status.Restore != nil {
		t.Errorf("expected the restore to wait, got %+v", c.Status.Restore)
	}
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = s.ns, "late"
	if err := env.Client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	s.awaitRestored(r, pods)
}

func TestARestoreThatIsCalledOffInTheMiddleLeavesNothing(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	before, pods := s.awaitWhole(), s.pods()
	store.Break(etcdtest.Fault{Call: "Members", Err: errors.New("no member is heard"), Times: 1_000_000}) // the restored member never answers
	defer store.Mend()
	r := s.restore("")
	operator.Until(t, "the seed has a pod", func() error {
		if len(s.pods()) == len(pods) {
			return errors.New("it has none")
		}
		return nil
	})
	s.delete(r)
	operator.Until(t, "it is called off", func() error {
		if at := s.get().Status.Restore; at == nil || at.Phase != etcdv1beta2.PhaseAbandoned {
			return fmt.Errorf("it is %+v", at)
		}
		return nil
	})
	store.Mend()
	operator.Until(t, "its pod and claim are gone", func() error {
		claims := &corev1.PersistentVolumeClaimList{}
		if err := env.Client.List(t.Context(), claims, client.InNamespace(s.ns)); err != nil || len(claims.Items) != 3 || len(s.pods()) != 3 {
			return fmt.Errorf("there are %d claims and %d pods (%w)", len(claims.Items), len(s.pods()), err)
		}
		return nil
	})
	if c := s.await("True AllMembersReady"); c.Status.ClusterID != before.Status.ClusterID || c.Status.Lineage != "" {
		t.Errorf("expected the cluster as it was, got %+v", c.Status)
	}
}
