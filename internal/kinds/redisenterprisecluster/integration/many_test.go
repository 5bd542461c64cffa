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

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/redispods"
)

var clusters = flag.Int("clusters", 20, "how many clusters of three pods run side by side")

// With many clusters, each must need as few API calls as a single cluster, and no API call once it is ready.
func TestManyClustersCostTheirWritesAndRestWithoutACall(t *testing.T) {
	s := newSiteOf(t, 2+*clusters/16, env.Operator)
	env.Settled(t, env.Audit.Mark(t))
	mark, begin := env.Audit.Mark(t), time.Now()
	for i := range *clusters {
		s.name = fmt.Sprintf("rec-%d", i)
		s.create()
	}
	// This limit only stops tests that hang, and is high enough for a busy machine.
	patience := 5*time.Minute + time.Duration(*clusters)*15*time.Second
	for ready := 0; ready < *clusters; time.Sleep(100 * time.Millisecond) {
		list := &redisv1alpha1.RedisEnterpriseClusterList{}
		if err := env.Client.List(t.Context(), list, client.InNamespace(s.ns)); err != nil {
			t.Fatal(err)
		}
		ready = 0
		for _, c := range list.Items {
			if meta.IsStatusConditionTrue(c.Status.Conditions, redisv1alpha1.ConditionReady) {
				ready++
			}
		}
		if time.Since(begin) > patience {
			t.Fatalf("expected all clusters to be ready within %s, %d of %d are", patience, ready, *clusters)
		}
	}
	took := time.Since(begin)
	writes := env.Settled(t, mark).Writes()
	statuses := writes.On("redisenterpriseclusters/status")
	children, each := len(writes)-len(statuses), float64(len(statuses))/float64(*clusters)
	t.Logf("%d clusters of three are ready after %s; %.2f statuses each: %v", *clusters, took.Round(time.Millisecond), each, writes.Tally())
	if children != 8**clusters {
		t.Errorf("expected 8 writes of children a cluster, got %d", children)
	}
	if each > 2.5+took.Seconds()/10 { // two status updates, plus progress reports if it takes long
		t.Errorf("expected 2 statuses a cluster, got %.2f", each)
	}
	for i := range *clusters {
		if err := store.Whole(redispods.Cluster(s.ns, fmt.Sprintf("rec-%d", i)), 3); err != nil {
			t.Errorf("expected cluster %d to be whole: %v", i, err)
		}
	}
	before := store.Changes()
	env.Rests(t)
	if n := store.Changes() - before; n > 0 {
		t.Errorf("expected no command to any server at rest, got %d", n)
	}
}
