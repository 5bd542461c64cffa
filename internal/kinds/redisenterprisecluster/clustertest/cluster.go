// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clustertest provides RedisEnterpriseCluster objects for the tests of package redisenterprisecluster and its
// subpackages.
package clustertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// Noon is the fixed time that tests use as the current time.
var Noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// Cluster is a short name for the API type.
type Cluster = redisv1alpha1.RedisEnterpriseCluster

// New returns a cluster of three pods. All other fields of its spec have their defaults.
func New(options ...func(*Cluster)) *Cluster {
	c := &Cluster{}
	c.Namespace, c.Name, c.UID, c.Generation = "shop", "example", "u-1", 1
	for _, o := range options {
		o(c)
	}
	return c
}

// With returns an option that overwrites fields of the spec with the given YAML.
func With(text string) func(*Cluster) {
	return func(c *Cluster) {
		if err := yaml.UnmarshalStrict([]byte(text), &c.Spec); err != nil {
			panic(err)
		}
	}
}

// ReadFile reads a file. The path is relative to the root of the repository.
func ReadFile(t *testing.T, path string) []byte {
	t.Helper()
	for folder := ".."; len(folder) < 30; folder = filepath.Join("..", folder) {
		if raw, err := os.ReadFile(filepath.Join(folder, path)); err == nil {
			return raw
		}
	}
	t.Fatalf("there is no %s", path)
	return nil
}

// Accepted returns an object from the manifests that the CRD's tests expect to be accepted.
func Accepted(t *testing.T, file, name string) *Cluster {
	t.Helper()
	raw := ReadFile(t, "test/crds/testdata/redisenterpriseclusters/accept/"+file)
	for text := range strings.SplitSeq(string(raw), "\n---\n") {
		c := &Cluster{}
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
