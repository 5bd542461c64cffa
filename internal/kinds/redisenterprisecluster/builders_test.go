// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"os"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

var (
	noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	from = images{helper: "opcrew/opcrew-helper:test", redis: "docker.io/valkey/valkey:8.1"}
)

type cluster = redisv1alpha1.RedisEnterpriseCluster

// newCluster has three pods, and all else by default.
func newCluster(options ...func(*cluster)) *cluster {
	c := &cluster{}
	c.Namespace, c.Name, c.UID, c.Generation = "shop", "example", "u-1", 1
	for _, o := range options {
		o(c)
	}
	return c
}

// with reads a spec over what is there.
func with(text string) func(*cluster) {
	return func(c *cluster) {
		if err := yaml.UnmarshalStrict([]byte(text), &c.Spec); err != nil {
			panic(err)
		}
	}
}

// accepted is an object of the table of what the CRD accepts.
func accepted(t *testing.T, file, name string) *cluster {
	t.Helper()
	raw, err := os.ReadFile("../../../test/crds/testdata/redisenterpriseclusters/accept/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(string(raw), "\n---\n") {
		c := &cluster{}
		if err := yaml.UnmarshalStrict([]byte(text), c); err != nil {
			t.Fatal(err)
		}
		if c.Name == name {
			c.Namespace, c.UID, c.Generation = "shop", "u-1", 1
			return c
		}
	}
	t.Fatalf("there is no %s in %s", name, file)
	return nil
}

// mustRead reads a spec that can be.
func mustRead(t *testing.T, c *cluster) reading {
	t.Helper()
	r, err := read(c, from)
	if err != nil {
		t.Fatalf("expected the spec to be read, got %v", err)
	}
	return r
}
