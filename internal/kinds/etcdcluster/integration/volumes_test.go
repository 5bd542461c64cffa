// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// class creates a StorageClass that allows or forbids volume expansion.
func (s *site) class(name string, grows bool) {
	s.Helper()
	class := &storagev1.StorageClass{Provisioner: testenv.VolumeProvisioner, AllowVolumeExpansion: &grows}
	class.Name = name
	if err := env.Client.Create(s.Context(), class); err != nil && !apierrors.IsAlreadyExists(err) {
		s.Fatal(err)
	}
}

func classed(name string) option {
	return func(c *etcdv1beta2.EtcdCluster) { c.Spec.Pod.PersistentVolumeClaimSpec.StorageClassName = &name }
}

func stored(size string) option {
	return func(c *etcdv1beta2.EtcdCluster) {
		c.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	}
}

// claims returns the claims that are not being deleted.
func (s *site) claims() []corev1.PersistentVolumeClaim {
	s.Helper()
	claims := &corev1.PersistentVolumeClaimList{}
	if err := env.Client.List(s.Context(), claims, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	return slices.DeleteFunc(claims.Items, func(claim corev1.PersistentVolumeClaim) bool { return claim.DeletionTimestamp != nil })
}

// expand simulates a volume driver: it gives each volume the size that its claim requests.
func (s *site) expand() {
	s.Helper()
	for _, claim := range s.claims() {
		before := claim.DeepCopy()
		claim.Status.Capacity = claim.Spec.Resources.Requests
		if err := env.Client.Status().Patch(s.Context(), &claim, client.MergeFrom(before)); err != nil {
			s.Fatal(err)
		}
	}
}

// awaitClaims waits until the three members have claims with this class and size, and no other claim exists.
func (s *site) awaitClaims(class, size string) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("three claims are of class %s and ask for %s", class, size), func() error {
		var all []error
		claims := s.claims()
		if len(claims) != 3 {
			all = append(all, fmt.Errorf("there are %d claims", len(claims)))
		}
		for _, claim := range claims {
			if asks := claim.Spec.Resources.Requests[corev1.ResourceStorage]; asks.String() != size || *claim.Spec.StorageClassName != class {
				all = append(all, fmt.Errorf("%s is of class %s and asks for %s", claim.Name, *claim.Spec.StorageClassName, asks.String()))
			}
		}
		return errors.Join(all...)
	})
}

func TestVolumesGrowWhileMembersRun(t *testing.T) {
	s := newSite(t)
	s.class("elastic", true)
	s.create(withClaims, classed("elastic"))
	s.awaitWhole()
	before := uids(s.pods())
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	s.edit(stored("2Gi"))
	s.awaitClaims("elastic", "2Gi")
	s.awaitCondition(etcdv1beta2.EtcdClusterUpToDate, "False VolumesGrowing", "0 of 3 volumes have the desired size", "has 1Gi of 2Gi")
	s.await("True AllMembersReady", "0 of 3 volumes have the desired size")
	writes := env.Settled(t, mark).Writes().Where(func(c testenv.Call) bool { return c.Subresource != "status" })
	if diff := cmp.Diff(map[string]int{"patch persistentvolumeclaims": 3}, writes.Tally()); diff != "" {
		t.Errorf("expected one write a volume (-expected +found):\n%s\n%s", diff, writes)
	}
	s.expand()
	s.awaitCondition(etcdv1beta2.EtcdClusterUpToDate, "True AllUpToDate")
	if after := uids(s.pods()); !slices.Equal(before, after) {
		t.Errorf("expected members to run on, were %q, are %q", before, after)
	}
	env.Rests(t)
}

func TestAVolumeThatCannotGrowIsReportedAndAnotherClassReplacesMembers(t *testing.T) {
	s := newSite(t)
	s.class("rigid", false)
	s.class("elastic", true)
	s.create(withClaims, classed("rigid"))
	id := s.awaitWhole().Status.ClusterID
	before := s.pods()
	s.edit(stored("2Gi"))
	s.awaitCondition(etcdv1beta2.EtcdClusterUpToDate, "False VolumesFixed", "stays at 1Gi instead of 2Gi", "StorageClass rigid does not let volumes grow")
	s.await("True AllMembersReady", "StorageClass rigid does not let volumes grow")
	s.awaitClaims("rigid", "1Gi")
	env.Settled(t, env.Audit.Mark(t))
	s.operator.Stop()
	mark := env.Audit.Mark(t)
	s.operator.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got:\n%s", writes)
	}
	s.edit(classed("elastic"))
	s.awaitClaims("elastic", "2Gi")
	s.awaitCondition(etcdv1beta2.EtcdClusterUpToDate, "True AllUpToDate")
	s.wantReplaced(id, before)
	env.Rests(t)
}

func TestMembersAreReplacedForOtherAccessModes(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	id := s.awaitWhole().Status.ClusterID
	before := s.pods()
	s.edit(func(c *etcdv1beta2.EtcdCluster) {
		c.Spec.Pod.PersistentVolumeClaimSpec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	})
	operator.Until(t, "all members are new", func() error {
		for _, pod := range s.pods() {
			if slices.Contains(names(before), pod.Name) {
				return fmt.Errorf("%s is there", pod.Name)
			}
		}
		return nil
	})
	s.awaitCondition(etcdv1beta2.EtcdClusterUpToDate, "True AllUpToDate")
	s.wantReplaced(id, before)
}

// wantReplaced checks that the cluster still has the given ID, that all its members are new, and that no old volume
// exists.
func (s *site) wantReplaced(id string, before []corev1.Pod) {
	s.Helper()
	c := s.awaitWhole()
	if c.Status.ClusterID != id {
		s.Errorf("expected members to join cluster %s, they are of %s", id, c.Status.ClusterID)
	}
	after := names(s.pods())
	for _, name := range names(before) {
		if slices.Contains(after, name) {
			s.Errorf("expected member %s to be replaced", name)
		}
	}
	operator.Until(s.T, "the claims are those of the members", func() error {
		var claims []string
		for _, claim := range s.claims() {
			claims = append(claims, claim.Name)
		}
		slices.Sort(claims)
		if slices.Sort(after); !slices.Equal(claims, after) {
			return fmt.Errorf("claims %q, pods %q", claims, after)
		}
		return nil
	})
}

// No data was ever written to a claim that has no volume, so opcrew may recreate the claim with another class.
func TestAClassThatIsMissingIsCorrectedBeforeTheClusterIsFormed(t *testing.T) {
	s := newSite(t)
	s.class("elastic", true)
	s.create(withClaims, classed("misspelt"))
	s.await("False MemberNotReady", "misspelt")
	s.edit(classed("elastic"))
	s.awaitWhole()
	s.awaitClaims("elastic", "1Gi")
}

// Earlier versions of opcrew recorded no annotation on claims and ignored edits of the claim's settings in the spec.
// The user expects that an upgrade of opcrew leaves these claims unchanged.
func TestClaimsOfAnEarlierOpcrewAreLeftAloneUnlessTheSpecDiffers(t *testing.T) {
	s := newSite(t)
	s.class("elastic", true)
	s.create(withClaims, classed("elastic"))
	s.awaitWhole()
	s.operator.Stop()
	for _, claim := range s.claims() {
		s.patch(&claim, `{"metadata":{"annotations":{"etcd.opcrew.io/claim":null}}}`)
	}
	before := uids(s.pods())
	mark := env.Audit.Mark(t)
	s.operator.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected nothing to be written, got:\n%s", writes)
	}
	if after := uids(s.pods()); !slices.Equal(before, after) {
		t.Errorf("expected members to run on, were %q, are %q", before, after)
	}
}
