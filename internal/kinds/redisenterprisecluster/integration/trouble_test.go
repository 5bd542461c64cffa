// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

func memory(amount redisv1alpha1.Amount) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) {
		all := map[corev1.ResourceName]redisv1alpha1.Amount{corev1.ResourceMemory: amount}
		c.Spec.RedisEnterpriseNodeResources = &redisv1alpha1.Resources{Limits: all, Requests: all}
	}
}

func TestWhatCannotBeIsToldAndWhatRunsGoesOn(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	before := s.pods()
	for name, test := range map[string]struct {
		bad   option
		words []string
	}{
		"an image that is none": {func(c *redisv1alpha1.RedisEnterpriseCluster) {
			c.Spec.RedisEnterpriseImageSpec = &redisv1alpha1.ImageSpec{Repository: "Not An", VersionTag: "image"}
		}, []string{"redisEnterpriseImageSpec"}},
		"too little memory": {memory("64Mi"), []string{"64Mi is too little", "128Mi"}},
		"a container of no sense": {func(c *redisv1alpha1.RedisEnterpriseCluster) {
			c.Spec.SideContainersSpec = []redisv1alpha1.SideContainer{`{"called":"x"}`}
		}, []string{"sideContainersSpec[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			good := s.get().Spec
			s.edit(test.bad)
			c := s.await("False InvalidSpec", test.words...)
			if c.Status.State != redisv1alpha1.StateInvalid || c.Status.SpecStatus != redisv1alpha1.SpecInvalid {
				t.Errorf("expected it to be told in the vendor's words, got %s and %s", c.Status.State, c.Status.SpecStatus)
			}
			s.edit(func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec = good })
			s.awaitWhole()
		})
	}
	for i, pod := range s.pods() {
		if pod.UID != before[i].UID {
			t.Errorf("expected pod %s to go on", pod.Name)
		}
	}
}

func TestAClassOfVolumesThatDoesNotExistIsNamed(t *testing.T) {
	s := newSite(t)
	s.create(withClaims, func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.PersistentSpec.StorageClassName = "missing" })
	s.await("False PodsNotReady", "rec-0: its claim redis-enterprise-storage-rec-0 has no volume", `"missing" not found`)
}

func TestAnImageThatCannotBePulledIsTold(t *testing.T) {
	s := newSite(t)
	s.create(func(c *redisv1alpha1.RedisEnterpriseCluster) {
		c.Spec.RedisEnterpriseImageSpec = &redisv1alpha1.ImageSpec{Repository: "missing.invalid/redis", VersionTag: "8"}
	})
	s.await("False PodsNotReady", "rec-0", "ImagePullBackOff")
	s.edit(imaged("8.0.2"))
	s.awaitWhole()
}

func TestAnUpgradeToAnImageThatCannotBePulledStopsAtOnePodAndIsTakenBack(t *testing.T) {
	s := newSite(t)
	s.create(imaged("8.0.2"), withClaims)
	s.awaitWhole()
	s.write(300)
	before := uids(s.pods())
	s.edit(func(c *redisv1alpha1.RedisEnterpriseCluster) {
		c.Spec.RedisEnterpriseImageSpec.Repository = "missing.invalid/redis"
	})
	s.await("False PodsNotReady", "rec-2", "ImagePullBackOff")
	env.Settled(t, env.Audit.Mark(t))
	if now := uids(s.pods()); now["rec-0"] != before["rec-0"] || now["rec-1"] != before["rec-1"] {
		t.Errorf("expected the first two pods to go on, got %v after %v", now, before)
	}
	s.edit(imaged("8.0.2"))
	s.awaitWhole()
}

func TestAShrinkForWhichThereIsNoMemoryIsRefusedWithTheArithmetic(t *testing.T) {
	s := newSite(t)
	s.create(memory("256Mi"), sized(4))
	s.awaitWhole()
	if err := store.Write(s.cluster(), 290, 1<<20); err != nil { // of 96 MiB for each of four
		t.Fatal(err)
	}
	s.operator.Stop() // else it may go by its last look, which may be two seconds old
	s.operator.Start()
	s.edit(sized(3))
	s.await("False TooLittleMemory", "would get about", "has room for")
	if n := len(s.pods()); n != 4 {
		t.Errorf("expected four pods to stay, got %d", n)
	}
	s.edit(sized(4))
	s.awaitWhole()
}

func TestANameThatIsTakenIsToldAndItsObjectIsLeftAlone(t *testing.T) {
	s := newSite(t)
	theirs := &corev1.Secret{StringData: map[string]string{"password": "theirs"}}
	theirs.Namespace, theirs.Name = s.ns, "rec"
	if err := env.Client.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	version := theirs.ResourceVersion
	s.create()
	s.await("False NameTaken", "Secret", "rec")
	if s.read("rec", theirs); theirs.ResourceVersion != version {
		t.Errorf("expected the Secret to be as it was, got %+v", theirs)
	}
	s.delete(theirs)
	s.awaitWhole()
}

func TestFieldsThatAreNotServedAreNamed(t *testing.T) {
	s := newSite(t)
	s.create(func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.License = `"xyz"` })
	s.awaitCondition(redisv1alpha1.ConditionFieldsIgnored, "True NotServed", "license")
	s.awaitWhole()
}

func TestAClusterOfOneHasNoReplicaElsewhereAndIsReady(t *testing.T) {
	s := newSite(t)
	s.create(sized(1))
	s.awaitCondition(redisv1alpha1.ConditionRedundant, "False TooFewNodes", "set nodes to 3")
	s.awaitWhole()
}
