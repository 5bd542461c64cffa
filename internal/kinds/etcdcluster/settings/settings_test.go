// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
)

func TestWhatTheOperatorAddsAndWhatDoesNotConcernPodsRestartsNoPod(t *testing.T) {
	before := Hash(clustertest.New(clustertest.WithClaims))
	for name, o := range map[string]clustertest.Option{
		"size": clustertest.Sized(5), "version": clustertest.Versioned("3.6.16"), "hibernate": clustertest.Hibernates,
		"busyboxImage": func(c *etcdv1beta2.EtcdCluster) { clustertest.PodPolicy(c).BusyboxImage = "x" },
		"a larger claim": func(c *etcdv1beta2.EtcdCluster) {
			clustertest.PodPolicy(c).PersistentVolumeClaimSpec.StorageClassName = new("fast")
		},
	} {
		if Hash(clustertest.New(clustertest.WithClaims, o)) != before {
			t.Errorf("expected a change of %s to recreate no pod", name)
		}
	}
	if Hash(clustertest.New(clustertest.WithClaims, clustertest.WithEnv("A", "1"))) == before {
		t.Error("expected a change of the environment to recreate pods")
	}
}
