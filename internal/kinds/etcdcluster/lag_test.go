// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kit"
)

// reading returns a reconciler with different objects in its cache and on its API server.
func reading(t *testing.T, cached, live []client.Object) *reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(etcdv1beta2.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	holding := func(objects []client.Object) client.Client {
		return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	}
	return &reconciler{Tools: &kit.Tools{Client: holding(cached), Live: holding(live)}}
}

func goneOver(c *etcdv1beta2.EtcdCluster) {
	c.Status.ClusterID, c.Status.Lineage = "00000000000000c2", "uid-of-restore"
	c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: "uid-of-restore", Phase: etcdv1beta2.PhaseRestored, Serial: 19}
}

// A restore has replaced the cluster and deleted its old pods, but the cache of this process does not show the restore
// yet. The process must not recreate the old pods.
func TestNoMemberComesBackOnItsClaimInAClusterThatIsFurtherThanTheCacheHasIt(t *testing.T) {
	for name, c := range map[string]struct {
		world world
		live  *etcdv1beta2.EtcdCluster
		want  bool
	}{
		"it has gone over to what was restored": {observed(clustertest.New(clustertest.WithClaims), 3).without(0, 1, 2), clustertest.New(clustertest.WithClaims, goneOver), true},
		"it was deleted":                        {observed(clustertest.New(clustertest.WithClaims), 3).without(1), nil, true},
		"it was recreated":                      {observed(clustertest.New(clustertest.WithClaims), 3).without(1), clustertest.New(clustertest.WithClaims, func(c *etcdv1beta2.EtcdCluster) { c.UID = "u-2" }), true},
		"it is what the cache has":              {observed(clustertest.New(clustertest.WithClaims), 3).without(0, 1, 2), clustertest.New(clustertest.WithClaims), false},
	} {
		var live []client.Object
		if c.live != nil {
			live = append(live, c.live)
		}
		if err := reading(t, nil, live).observeFormed(t.Context(), c.world.c, &c.world.facts); err != nil {
			t.Fatal(err)
		}
		if made := len(planAt(c.world.c, c.world.facts, clustertest.Noon).Children) > 0; made == c.want {
			t.Errorf("%s: expected nothing to be made: %t, got something: %t", name, c.want, made)
		}
	}
}

func TestTheServerIsOnlyAskedHowFarTheClusterIsWhereAMemberIsToComeBack(t *testing.T) {
	for name, w := range map[string]world{
		"all pods are there": observed(clustertest.New(clustertest.WithClaims), 3),
		"without claims":     observed(clustertest.New(), 3).without(1),
		"it sleeps":          observed(clustertest.New(clustertest.WithClaims, clustertest.Hibernates), 3).without(0, 1, 2),
		"it is paused":       pausedNow(observed(clustertest.New(clustertest.WithClaims), 3).without(1)),
	} {
		if err := reading(t, nil, nil).observeFormed(t.Context(), w.c, &w.facts); err != nil || w.behind {
			t.Errorf("%s: expected no question, got %v and behind %t", name, err, w.behind)
		}
	}
}

func TestARestoreIsOnlyCalledOffWhenTheServerItselfDoesNotHaveIt(t *testing.T) {
	for name, c := range map[string]struct {
		cached, live func(*etcdv1beta2.EtcdRestore) // nil if there is no EtcdRestore
		want         bool
	}{
		"the cache has not heard of it yet":         {nil, same, false},
		"the cache still has the one before":        {another, same, false},
		"it is gone":                                {nil, nil, true},
		"it is gone, and there is another":          {another, another, true},
		"it is gone, which the cache does not know": {same, nil, false}, // the cache will show the deletion later
		"it is there, and so it is in the cache":    {same, same, false},
	} {
		w := observed(clustertest.New(clustertest.WithClaims), 3).wantsRestore().takenUp()
		of := func(change func(*etcdv1beta2.EtcdRestore)) []client.Object {
			if change == nil {
				return nil
			}
			r := w.restore.DeepCopy()
			change(r)
			return []client.Object{r}
		}
		r := reading(t, of(c.cached), of(c.live))
		if err := r.readRestore(t.Context(), w.c, &w.facts); err != nil {
			t.Fatal(err)
		}
		if got := reported(w).Status.Restore.Phase == etcdv1beta2.PhaseAbandoned; got != c.want {
			t.Errorf("%s: expected called off %t, got %t", name, c.want, got)
		}
	}
}

func same(*etcdv1beta2.EtcdRestore)      {}
func another(r *etcdv1beta2.EtcdRestore) { r.UID = "uid-of-another" }
