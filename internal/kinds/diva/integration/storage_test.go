// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// resize simulates a volume resizer that grows every volume to the requested size.
func (s *shop) resize() {
	s.Helper()
	list := &corev1.PersistentVolumeClaimList{}
	s.list(list)
	for i := range list.Items {
		claim := &list.Items[i]
		claim.Status.Capacity = corev1.ResourceList{"storage": *claim.Spec.Resources.Requests.Storage()}
		if err := env.Client.Status().Update(s.Context(), claim); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *shop) set() *appsv1.StatefulSet {
	s.Helper()
	set := &appsv1.StatefulSet{}
	s.read(s.name+"-client", set)
	return set
}

// awaitRecreated waits until a new StatefulSet has replaced the previous one.
func (s *shop) awaitRecreated(before *appsv1.StatefulSet) {
	s.Helper()
	operator.Until(s.T, "the StatefulSet is recreated", func() error {
		found := &appsv1.StatefulSetList{}
		s.list(found)
		if len(found.Items) != 1 || found.Items[0].UID == before.UID {
			return fmt.Errorf("it is the old one")
		}
		return nil
	})
}

func TestStorageGrowsUnderRunningClientsAndNewOnesHaveAsMuch(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	pods, set := s.uids("client"), s.set()
	s.edit(withClientSize("3Gi"), func(d *opsv1.Diva) { d.Spec.Extra.Storage.Size = "4Gi" })
	s.await(opsv1.DivaReady, "False Growing", "of 4Gi")
	s.awaitRecreated(set)
	s.resize()
	s.awaitReady(2)
	if diff := cmp.Diff(pods, s.uids("client")); diff != "" {
		t.Errorf("expected the clients to go on (-before +after):\n%s", diff)
	}
	s.edit(withClients(3))
	s.awaitReady(3)
	want := map[string]string{"ops-manager": "2Gi", "ops-extra": "4Gi", "wi-ops-client-0": "3Gi", "wi-ops-client-1": "3Gi", "wi-ops-client-2": "3Gi"}
	if diff := cmp.Diff(want, s.claims()); diff != "" {
		t.Errorf("not what the claims ask for (-expected +found):\n%s", diff)
	}
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	if held := s.get().Finalizers; len(held) > 0 {
		t.Errorf("expected the object to be let go when all is done, got %v", held)
	}
}

// As long as no volume has been resized, the capacity of each claim is still the old size, and Kubernetes allows a
// lower request that is larger than this capacity. So the user can lower the size in the spec again.
func TestASizeThatNoVolumeCanHaveIsTakenBackToOneThatItCan(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	pods := s.uids("client")
	size := func(client, manager string) option {
		return func(d *opsv1.Diva) { d.Spec.Client.Storage.Size, d.Spec.Manager.Storage.Size = client, manager }
	}
	s.edit(size("200Gi", "300Gi"))
	operator.Until(t, "all claims ask for it, and new ones are to", func() error {
		if got := s.claims(); got["wi-ops-client-1"] != "200Gi" || got["ops-manager"] != "300Gi" || s.templateSize() != "200Gi" {
			return fmt.Errorf("they ask for %v", got)
		}
		return nil
	})
	s.await(opsv1.DivaReady, "False Growing")
	d := s.get()
	before := client.MergeFrom(d.DeepCopy())
	size("2Gi", "300Gi")(d)
	if err := env.Client.Patch(t.Context(), d, before); err == nil || !contains(err.Error(), "status.storage.least.client") {
		t.Errorf("expected no less than Kubernetes lets claims ask for, got %v", err)
	}
	s.edit(size("20Gi", "3Gi"))
	operator.Until(t, "claims ask for less again", func() error {
		want := map[string]string{"ops-manager": "3Gi", "ops-extra": "2Gi", "wi-ops-client-0": "20Gi", "wi-ops-client-1": "20Gi"}
		if diff := cmp.Diff(want, s.claims()); diff != "" || s.templateSize() != "20Gi" {
			return fmt.Errorf("the StatefulSet has %s, and claims differ (-expected +found):\n%s", s.templateSize(), diff)
		}
		return nil
	})
	s.resize()
	s.awaitReady(2)
	if diff := cmp.Diff(pods, s.uids("client")); diff != "" {
		t.Errorf("expected the clients to go on (-before +after):\n%s", diff)
	}
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}

// templateSize returns the size in the claim template of the StatefulSet; "" unless there is exactly one StatefulSet.
func (s *shop) templateSize() string {
	s.Helper()
	found := &appsv1.StatefulSetList{}
	if s.list(found); len(found.Items) != 1 {
		return ""
	}
	return found.Items[0].Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String()
}

// Kubernetes keeps a deleted claim as long as a pod uses it. A claim that no pod uses is recreated at once.
func TestAClaimThatAUserDeletesIsReportedAndSoIsTheEmptyOneAfterIt(t *testing.T) {
	s := newShop(t)
	s.create(1)
	s.awaitReady(1)
	time.Sleep(1100 * time.Millisecond) // creation times are in whole seconds
	claim := &corev1.PersistentVolumeClaim{}
	s.read("wi-ops-client-0", claim)
	if err := env.Client.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	s.await(opsv1.DivaStorageReady, "False ClaimTerminating", "wi-ops-client-0 is being deleted", "pod ops-client-0")
	pod := s.pods("client")[0]
	if err := env.Client.Delete(t.Context(), &pod); err != nil {
		t.Fatal(err)
	}
	s.await(opsv1.DivaStorageReady, "True ClaimRemade", "wi-ops-client-0", "is lost unless you have restored it")
	if got := s.awaitReady(1).Status.Message; !contains(got, "wi-ops-client-0") {
		t.Errorf("expected the message to name the claim, got %q", got)
	}
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}

// The test simulates an operator that stopped right after it deleted the StatefulSet, and a user who then deleted the
// Diva.
func TestClientsWithoutAnOwnerGoWithTheObject(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	s.operator.Stop()
	s.edit(func(d *opsv1.Diva) { d.Finalizers = []string{"opcrew.io/diva-clients"} })
	if err := env.Client.Delete(t.Context(), s.set(), client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	operator.Until(t, "the StatefulSet is gone", func() error {
		found := &appsv1.StatefulSetList{}
		if s.list(found); len(found.Items) > 0 {
			return fmt.Errorf("it is there")
		}
		return nil
	})
	if err := env.Client.Delete(t.Context(), s.get()); err != nil {
		t.Fatal(err)
	}
	s.operator.Start()
	operator.Until(t, "no client is left", func() error {
		if left := s.pods("client"); len(left) > 0 {
			return fmt.Errorf("there are %d", len(left))
		}
		return nil
	})
}

func TestStorageOfADivaWithTheLongestNameGrowsToo(t *testing.T) {
	s := newShop(t)
	s.name = "a-name-of-forty-characters-and-not-more0"
	s.create(1)
	s.awaitReady(1)
	pods, set := s.uids("client"), s.set()
	s.edit(withClientSize("3Gi"))
	s.awaitRecreated(set)
	s.resize()
	s.awaitReady(1)
	if diff := cmp.Diff(pods, s.uids("client")); diff != "" {
		t.Errorf("expected the client to go on (-before +after):\n%s", diff)
	}
}

func TestStorageThatCannotGrowIsReportedAndTheRestGoesOn(t *testing.T) {
	s := newShop(t)
	class := &storagev1.StorageClass{}
	class.Name, class.Provisioner = "rigid-"+s.ns, "testenv.opcrew.io/volumes"
	if err := env.Client.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	s.create(2, func(d *opsv1.Diva) { d.Spec.Client.Storage.ClassName = class.Name })
	s.awaitReady(2)
	set := s.set()
	s.edit(withClientSize("3Gi"), withClients(3))
	s.await(opsv1.DivaReady, "False CannotGrow", "wi-ops-client-0 keeps 2Gi and cannot grow to 3Gi", "allowVolumeExpansion")
	operator.Until(t, "the third client comes all the same", func() error {
		if got := s.get().Status.Clients; got != "3/3" {
			return fmt.Errorf("there are %s", got)
		}
		return nil
	})
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	if s.set().UID != set.UID {
		t.Error("expected the StatefulSet to stay: claims that cannot grow are no reason to recreate it")
	}
}

func TestAClassThatIsNotThereIsNamedInTheWordsOfWhoLooksForIt(t *testing.T) {
	s := newShop(t)
	s.create(1, func(d *opsv1.Diva) { d.Spec.Manager.Storage.ClassName = "ghost" })
	s.await(opsv1.DivaReady, "False ClaimsPending", "ops-manager", `"ghost" not found`)
}

func TestAClaimThatIsLeftOfAnotherClassIsReportedAndUsed(t *testing.T) {
	s := newShop(t)
	s.create(1)
	s.awaitReady(1)
	s.clear()
	s.create(1, func(d *opsv1.Diva) {
		d.Spec.Manager.Storage = opsv1.Storage{Size: "1Gi", ClassName: "standard"}
	})
	s.await(opsv1.DivaReady, "False ClaimDiffers", "ops-manager", `"longhorn" instead of "standard"`)
	if got := s.claims()["ops-manager"]; got != "2Gi" {
		t.Errorf("expected the claim to have what it had, got %s", got)
	}
}
