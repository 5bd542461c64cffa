// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const articleRedis = "redis-enterprise"

// The test applies the manifest of a published article about the Redis Enterprise operator. The manifest names the
// vendor's proprietary image. opcrew runs Valkey instead, and reports this in the status.
func TestTheManifestOfTheArticleOnRedisServesWithoutTheVendorsImage(t *testing.T) {
	r := newRedisTest(t, "")
	if !r.holds(t, "valkey/valkey:9.1") {
		r.debian(t, "valkey9")
	}
	file := filepath.Join(r.root, "test", "e2e", "testdata", "redisenterprisecluster.yaml")
	r.kubectl(t, "apply", "-n", r.ns, "-f", file)
	r.kubectl(t, "apply", "-n", r.ns, "--server-side", "--force-conflicts", "-f", file)
	c := &redisv1alpha1.RedisEnterpriseCluster{}
	eventually.True(t, 3*time.Minute, "it is Ready", func() error {
		if err := r.Get(t.Context(), client.ObjectKey{Namespace: r.ns, Name: articleRedis}, c); err != nil {
			return err
		}
		if ready := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionReady); ready == nil || ready.Status != "True" {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
	if !meta.IsStatusConditionTrue(c.Status.Conditions, redisv1alpha1.ConditionImageReplaced) {
		t.Errorf("expected it to be said that the image is another, got %+v", c.Status.Conditions)
	}
	secret := &corev1.Secret{}
	if err := r.Get(t.Context(), client.ObjectKey{Namespace: r.ns, Name: articleRedis}, secret); err != nil || string(secret.Data["username"]) != "admin@acme.com" {
		t.Errorf("expected the article's user in the Secret, got %q (%v)", secret.Data["username"], err)
	}
}
