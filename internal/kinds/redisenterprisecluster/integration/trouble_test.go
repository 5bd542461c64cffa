// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func memory(amount redisv1alpha1.Amount) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) {
		all := map[corev1.ResourceName]redisv1alpha1.Amount{corev1.ResourceMemory: amount}
		c.Spec.RedisEnterpriseNodeResources = &redisv1alpha1.Resources{Limits: all, Requests: all}
	}
}

func TestWhatCannotBeIsReportedAndWhatRunsGoesOn(t *testing.T) {
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
			c.Spec.SideContainersSpec = []common.Container{common.ContainerOf(`{"called":"x"}`)}
		}, []string{"sideContainersSpec[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			good := s.get().Spec
			s.edit(test.bad)
			c := s.await("False InvalidSpec", test.words...)
			if c.Status.State != redisv1alpha1.StateInvalid || c.Status.SpecStatus != redisv1alpha1.SpecInvalid {
				t.Errorf("expected it to be reported in the vendor's words, got %s and %s", c.Status.State, c.Status.SpecStatus)
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
	s.await("False PodsNotReady", "rec-0: claim redis-enterprise-storage-rec-0 has no volume", `"missing" not found`)
}

func TestAnImageThatCannotBePulledIsReported(t *testing.T) {
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
	if err := store.Write(s.cluster(), 290, 1<<20); err != nil { // each of the four pods has 96 MiB
		t.Fatal(err)
	}
	s.operator.Stop() // otherwise the operator would act on its view of the servers, which may be up to two seconds old
	s.operator.Start()
	s.edit(sized(3))
	s.await("False TooLittleMemory", "would receive about", "has room for")
	if n := len(s.pods()); n != 4 {
		t.Errorf("expected four pods to stay, got %d", n)
	}
	s.edit(sized(4))
	s.awaitWhole()
}

func TestANameThatIsTakenIsReportedAndItsObjectIsLeftAlone(t *testing.T) {
	s := newSite(t)
	theirs := s.secret("rec", "theirs")
	version := theirs.ResourceVersion
	s.create()
	s.await("False NameTaken", "Secret", "rec", "set clusterCredentialSecretName: rec")
	s.awaitServed()
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	known := s.accepted()
	if n := len(strings.Fields(known)); n != 1 {
		t.Errorf("expected servers to know one password, got %d", n)
	}
	pod := s.pods()[0]
	s.delete(&pod)
	s.replaced(pod)
	s.awaitServed()
	env.Settled(t, env.Audit.Mark(t))
	if s.accepted() != known {
		t.Error("expected servers to know the same password as before")
	}
	if s.read("rec", theirs); theirs.ResourceVersion != version {
		t.Errorf("expected the Secret to be as it was, got %+v", theirs)
	}
	if n := s.events("PasswordMade"); n > 0 {
		t.Errorf("expected nothing to be said of a password that was not made, got it %d times", n)
	}
	s.delete(theirs)
	s.awaitWhole()
	s.awaitLetIn("rec")
}

func TestASecretThatTheSpecNamesIsUsedForAnyOwner(t *testing.T) {
	s := newSite(t)
	keeper := &corev1.ConfigMap{}
	keeper.Namespace, keeper.Name = s.ns, "keeper"
	if err := env.Client.Create(t.Context(), keeper); err != nil {
		t.Fatal(err)
	}
	kept := s.secret("kept", "theirs", *metav1.NewControllerRef(keeper, corev1.SchemeGroupVersion.WithKind("ConfigMap")))
	version := kept.ResourceVersion
	s.create(func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.ClusterCredentialSecretName = "kept" })
	s.awaitWhole()
	s.awaitLetIn("kept")
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	if s.read("kept", kept); kept.ResourceVersion != version {
		t.Errorf("expected the Secret to be as it was, got %+v", kept)
	}
}

func TestWhileThePasswordCannotBeMadeAgainTheLastOneGoesOn(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	quota := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"secrets": resource.MustParse("1")}}}
	quota.Namespace, quota.Name = s.ns, "secrets"
	if err := env.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	operator.Until(t, "the Secrets are counted", func() error {
		if s.read("secrets", quota); len(quota.Status.Used) == 0 {
			return errors.New("they are not yet")
		}
		return nil
	})
	known, secret := s.accepted(), &corev1.Secret{}
	s.read("rec", secret)
	mark := env.Audit.Mark(t)
	s.delete(secret)
	s.await("False Refused", "exceeded quota")
	operator.Until(t, "it is tried several times", func() error {
		if n := env.Calls(t, mark).Writes().Tally()["create secrets"]; n < 4 {
			return fmt.Errorf("it was %d times", n)
		}
		return nil
	})
	if n := env.Calls(t, mark).Writes().Tally()["patch secrets"]; n > 0 || s.accepted() != known {
		t.Errorf("expected what servers know to stay as it was, got %d writes", n)
	}
	if err := s.letIn(string(secret.Data["password"])); err != nil {
		t.Errorf("expected the last password to be valid: %v", err)
	}
	if n := s.events("PasswordMade"); n > 0 {
		t.Errorf("expected nothing to be said of a password that was not made, got it %d times", n)
	}
	s.delete(quota)
	s.awaitWhole()
	s.awaitLetIn("rec")
	operator.Until(t, "an event reports once that there is another password", func() error {
		if n := s.events("PasswordMade"); n != 1 {
			return fmt.Errorf("it was %d times", n)
		}
		return nil
	})
}

func TestASecretThatLosesItsOwnerReferenceKeepsItsPassword(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	for _, name := range []string{"rec", "rec-system"} {
		secret := &corev1.Secret{}
		s.read(name, secret)
		before := secret.DeepCopy()
		s.patch(secret, `{"metadata":{"ownerReferences":null}}`)
		operator.Until(t, name+" is owned again", func() error {
			if s.read(name, secret); len(secret.OwnerReferences) == 0 {
				return errors.New("it is not")
			}
			return nil
		})
		env.Settled(t, env.Audit.Mark(t))
		if s.read(name, secret); !maps.EqualFunc(secret.Data, before.Data, bytes.Equal) {
			t.Errorf("expected %s to hold what it held", name)
		}
	}
	s.awaitWhole()
	if n := s.events("PasswordMade"); n > 0 {
		t.Errorf("expected nothing to be said of a password that was not made, got it %d times", n)
	}
}

// secret creates a Secret that belongs to the user, or to another controller.
func (s *site) secret(name, password string, owners ...metav1.OwnerReference) *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{StringData: map[string]string{"username": redisv1alpha1.DefaultUsername, "password": password}}
	secret.Namespace, secret.Name, secret.OwnerReferences = s.ns, name, owners
	if err := env.Client.Create(s.Context(), secret); err != nil {
		s.Fatal(err)
	}
	return secret
}

// accepted returns the hashes of the passwords that servers should accept, one per line.
func (s *site) accepted() string {
	s.Helper()
	secret := &corev1.Secret{}
	s.read("rec-system", secret)
	return string(secret.Data["accepted"])
}

// awaitServed waits until every slot has a primary and a replica. It ignores the status.
func (s *site) awaitServed() {
	s.Helper()
	eventually.True(s.T, leisurely, "the cluster is whole", func() error { return store.Whole(s.cluster(), redisv1alpha1.DefaultNodes) })
}

// awaitLetIn waits until all servers accept the password in a Secret.
func (s *site) awaitLetIn(name string) {
	s.Helper()
	secret := &corev1.Secret{}
	s.read(name, secret)
	operator.Until(s.T, "servers take the password of Secret "+name, func() error { return s.letIn(string(secret.Data["password"])) })
}

// events returns how often the operator wrote an event with the given reason about the cluster.
func (s *site) events(reason string) int {
	s.Helper()
	list, n := &eventsv1.EventList{}, 0
	if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	for _, event := range list.Items {
		if event.Regarding.Name == s.name && event.Reason == reason {
			n++
		}
	}
	return n
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
