// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv"
)

const (
	// article is the manifest of a published article about the Redis Enterprise operator.
	article = "test/crds/testdata/redisenterpriseclusters/accept/article.yaml"
	// vendors is the first example manifest in the documentation of the Redis Enterprise operator.
	vendors = "test/crds/testdata/redisenterpriseclusters/accept/vendors.yaml"
)

// kubectl runs kubectl in the test's namespace, as a user would.
func (s *site) kubectl(args ...string) {
	s.Helper()
	args = append([]string{"--kubeconfig", env.Kubeconfig, "--namespace", s.ns}, args...)
	out, err := exec.CommandContext(s.Context(), filepath.Join(env.Root, "bin", "kubectl"), args...).CombinedOutput()
	if err != nil {
		s.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
}

func TestTheArticlesManifestAppliesUnchangedAndBecomesReady(t *testing.T) {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "gp2"}, Provisioner: testenv.VolumeProvisioner}
	if err := env.Client.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	t.Run("kubectl apply", func(t *testing.T) { expectTheArticle(t) })
	t.Run("kubectl apply --server-side", func(t *testing.T) { expectTheArticle(t, "--server-side") })
	if err := env.Client.Delete(t.Context(), class); err != nil {
		t.Fatal(err)
	}
}

func expectTheArticle(t *testing.T, flags ...string) {
	t.Helper()
	s := newSite(t)
	apply := func() {
		s.kubectl(append([]string{"apply", "-f", filepath.Join(env.Root, article), "-f", filepath.Join(env.Root, vendors)}, flags...)...)
	}
	apply()
	s.name = "vendors"
	s.awaitWhole()
	s.name = "redis-enterprise"
	c := s.awaitWhole()
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	apply()
	if calls := env.Settled(t, mark); len(calls) > 0 {
		t.Errorf("expected the same manifest applied again to cost no call, got:\n%s", calls)
	}
	if reported := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionImageReplaced); reported == nil || c.Status.Version != "valkey 9.1" {
		t.Errorf("expected a report of what runs in place of the vendor's image, got version %q and %+v", c.Status.Version, reported)
	}
	s.expectTheArticlesChildren()
}

// expectTheArticlesChildren checks the children of the cluster in the manifest of the published article about the Redis
// Enterprise operator. Their names, users, ports and volume sizes must be the same as with that operator.
func (s *site) expectTheArticlesChildren() {
	s.Helper()
	secret, page := &corev1.Secret{}, &corev1.Service{}
	s.read("redis-enterprise", secret)
	s.read("redis-enterprise-ui", page)
	if string(secret.Data["username"]) != "admin@acme.com" || len(secret.Data["password"]) < 20 {
		s.Errorf("expected the Secret to let admin@acme.com in, got %q", secret.Data["username"])
	}
	if page.Spec.Type != corev1.ServiceTypeLoadBalancer || page.Spec.Ports[0].Port != 8443 {
		s.Errorf("expected a LoadBalancer at 8443, got %+v", page.Spec)
	}
	for _, pod := range s.pods() {
		for _, user := range []string{"admin@acme.com", "default"} {
			if err := store.Login(pod.Status.PodIP+":6379", user, string(secret.Data["password"])); err != nil {
				s.Errorf("expected %s to be let in by the Secret's password: %v", user, err)
			}
		}
	}
	for _, claim := range s.claims() {
		if size := claim.Spec.Resources.Requests[corev1.ResourceStorage]; *claim.Spec.StorageClassName != "gp2" || size.String() != "20Gi" {
			s.Errorf("expected claims of class gp2 of five times the memory, got %s of %s", *claim.Spec.StorageClassName, size.String())
		}
	}
}
