// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

var clusters = flag.Int("clusters", 20, "how many clusters of three members run side by side")

// With many clusters, each needs only the writes that a single cluster needs, and no API calls once it is ready.
func TestManyClustersCostTheirWritesAndRestWithoutACall(t *testing.T) {
	s := newSiteOf(t, 4+*clusters/16, env.Operator)
	env.Settled(t, env.Audit.Mark(t))
	mark, begin := env.Audit.Mark(t), time.Now()
	for i := range *clusters {
		c := &etcdv1beta2.EtcdCluster{}
		c.Namespace, c.Name, c.Spec.Size, c.Spec.Version = s.ns, fmt.Sprintf("db-%d", i), 3, "3.6.16"
		if err := env.Client.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	patience := time.Minute + time.Duration(*clusters)*time.Second
	for ready := 0; ready < *clusters; time.Sleep(100 * time.Millisecond) {
		list := &etcdv1beta2.EtcdClusterList{}
		if err := env.Client.List(t.Context(), list, client.InNamespace(s.ns)); err != nil {
			t.Fatal(err)
		}
		ready = 0
		for _, c := range list.Items {
			if meta.IsStatusConditionTrue(c.Status.Conditions, etcdv1beta2.EtcdClusterReady) {
				ready++
			}
		}
		if time.Since(begin) > patience {
			t.Fatalf("expected all clusters to be ready within %s, %d of %d are", patience, ready, *clusters)
		}
	}
	took := time.Since(begin)
	writes := env.Settled(t, mark).Writes()
	each := float64(len(writes)) / float64(*clusters)
	t.Logf("%d clusters of three are ready after %s; %.2f writes each: %v", *clusters, took.Round(time.Millisecond), each, writes.Tally())
	statuses := float64(writes.Tally()["patch etcdclusters/status"]) / float64(*clusters)
	if each-statuses > 11.25 { // eleven writes, and sometimes one more after a conflict
		t.Errorf("expected 11 writes of children a cluster, got %.2f", each-statuses)
	}
	if statuses > 3.25+took.Seconds()/10 { // three writes, and more if the cluster reports progress for long
		t.Errorf("expected 3 statuses a cluster, got %.2f", statuses)
	}
	env.Rests(t)
}
