// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// class creates a StorageClass that allows volume expansion, or does not.
func (s *site) class(name string, grows bool) {
	s.Helper()
	class := &storagev1.StorageClass{Provisioner: testenv.VolumeProvisioner, AllowVolumeExpansion: &grows}
	class.Name = name
	if err := env.Client.Create(s.Context(), class); err != nil && !apierrors.IsAlreadyExists(err) {
		s.Fatal(err)
	}
}

// elastic requests volumes of a class and a size, and lets them grow with the spec.
func elastic(class string, size redisv1alpha1.Amount) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) {
		c.Spec.PersistentSpec = &redisv1alpha1.PersistentSpec{
			Enabled: "true", StorageClassName: class, VolumeSize: size, EnablePersistentVolumeResize: "true",
		}
	}
}

// grow simulates a volume driver. It gives all volumes the size that their claims request.
func (s *site) grow() {
	s.Helper()
	for _, claim := range s.claims() {
		before := claim.DeepCopy()
		claim.Status.Capacity = claim.Spec.Resources.Requests
		if err := env.Client.Status().Patch(s.Context(), &claim, client.MergeFrom(before)); err != nil {
			s.Fatal(err)
		}
	}
}

// asked waits until all claims request the given size.
func (s *site) asked(size string) {
	s.Helper()
	eventually.True(s.T, leisurely, "all claims ask for "+size, func() error {
		var all []error
		claims := s.claims()
		if len(claims) != 3 {
			all = append(all, fmt.Errorf("there are %d claims", len(claims)))
		}
		for _, claim := range claims {
			if asks := claim.Spec.Resources.Requests[corev1.ResourceStorage]; asks.String() != size {
				all = append(all, fmt.Errorf("%s asks for %s", claim.Name, asks.String()))
			}
		}
		return errors.Join(all...)
	})
}

func (s *site) volumesAre(want redisv1alpha1.PersistenceStatus) {
	s.Helper()
	if diff := cmp.Diff(&want, s.get().Status.PersistenceStatus); diff != "" {
		s.Errorf("not what is said of the volumes (-expected +found):\n%s", diff)
	}
}

func TestVolumesGrowWhileTheyAreInUse(t *testing.T) {
	s := newSite(t)
	s.class("elastic", true)
	s.create(elastic("elastic", "1Gi"))
	s.awaitWhole()
	s.volumesAre(redisv1alpha1.PersistenceStatus{Status: redisv1alpha1.VolumesProvisioned, Succeeded: "3/3"})
	s.write(100)
	before := uids(s.pods())
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	s.edit(elastic("elastic", "2Gi"))
	s.await("False VolumesGrowing", "0 of 3 volumes have the requested size", "claim redis-enterprise-storage-rec-0 has 1Gi of 2Gi")
	s.asked("2Gi")
	writes := env.Settled(t, mark).Writes().Where(func(c testenv.Call) bool { return c.Subresource != "status" })
	want := map[string]int{"patch persistentvolumeclaims": 3, "delete statefulsets": 1, "patch statefulsets": 2} // one of the two patches of the StatefulSet is a dry run
	if diff := cmp.Diff(want, writes.Tally()); diff != "" {
		t.Errorf("not the writes that it takes (-expected +found):\n%s\n%s", diff, writes)
	}
	s.volumesAre(redisv1alpha1.PersistenceStatus{Status: redisv1alpha1.VolumesResizing, Succeeded: "0/3"})
	s.grow()
	s.awaitWhole()
	s.volumesAre(redisv1alpha1.PersistenceStatus{Status: redisv1alpha1.VolumesProvisioned, Succeeded: "3/3"})
	if diff := cmp.Diff(before, uids(s.pods())); diff != "" {
		t.Errorf("expected the pods to go on:\n%s", diff)
	}
	env.Rests(t)
}

func TestVolumesThatCannotGrowAreReportedAndHoldUpNothing(t *testing.T) {
	s := newSite(t)
	s.class("rigid", false)
	s.create(elastic("rigid", "1Gi"))
	s.awaitWhole()
	s.edit(elastic("rigid", "2Gi"))
	s.await("False VolumesFixed", "claim redis-enterprise-storage-rec-0 stays at 1Gi instead of 2Gi", "StorageClass rigid does not let volumes grow")
	s.volumesAre(redisv1alpha1.PersistenceStatus{Status: redisv1alpha1.VolumesResizeFailed, Succeeded: "0/3"})
	env.Settled(t, env.Audit.Mark(t))
	s.operator.Stop()
	mark := env.Audit.Mark(t)
	s.operator.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got:\n%s", writes)
	}
	s.edit(imaged("8.0.2"))
	eventually.True(t, leisurely, "all servers run another version", func() error {
		if is := s.get().Status.Version; is != "8.0.2" {
			return errors.New("they run " + is)
		}
		return nil
	})
	s.asked("1Gi")
	s.edit(func(c *redisv1alpha1.RedisEnterpriseCluster) {
		c.Spec.PersistentSpec.EnablePersistentVolumeResize = "false"
	})
	s.awaitWhole() // the user has followed the advice in the status
}

// A storage quota refuses larger volume claims. The status must report that, and the operator must still repair
// servers.
func TestClaimsToWhichMoreIsRefusedAreReportedAndHoldUpNothing(t *testing.T) {
	s := newSite(t)
	s.class("elastic", true)
	s.create(elastic("elastic", "1Gi"))
	s.awaitWhole()
	quota := &corev1.ResourceQuota{}
	quota.Namespace, quota.Name = s.ns, "storage"
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourceRequestsStorage: s.claims()[0].Spec.Resources.Requests[corev1.ResourceStorage]}
	if err := env.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	s.edit(elastic("elastic", "2Gi"))
	s.await("False Refused", "exceeded quota: storage")
	s.write(100)
	pod := s.pods()[1]
	s.delete(&pod)
	s.replaced(pod)
	eventually.True(t, leisurely, "the pods are in the ring again", func() error {
		if n := s.get().Status.ReadyNodes; n != 3 {
			return fmt.Errorf("%d are", n)
		}
		return store.Whole(s.cluster(), 3)
	})
	s.delete(quota)
	s.edit(configured("maxmemory-policy", "allkeys-lru")) // without this edit, it could take a minute until opcrew tries to grow the volumes again
	s.asked("2Gi")
	s.grow()
	s.awaitWhole()
}
