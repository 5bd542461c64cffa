// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kit"
)

// Reported by a user: after the status of a restored cluster was emptied, opcrew deleted all members with their claims
// and created an empty cluster.
func TestNothingIsChangedWhereTheStatusOfAClusterIsLost(t *testing.T) {
	lost := func(w world) world {
		w.c.Status = etcdv1beta2.EtcdClusterStatus{}
		return w
	}
	grown := func() world { // member 3 has replaced member 2
		return observed(clustertest.New(clustertest.WithClaims), 0).with(0, false).with(1, false).with(3, false)
	}
	for name, test := range map[string]struct {
		world world
		held  bool
		ready string // expected start of the condition Ready
	}{
		"a quorum says who they are":          {lost(grown()), true, "True AllMembersReady"},
		"no quorum answers":                   {lost(grown().down(0, 1)), true, "False StatusLost: The status of the EtcdCluster was lost, but "},
		"a pod is of another cluster":         {lost(grown().with(7, false).drop(7)), true, "False StatusLost"},
		"it was not formed yet":               {observed(clustertest.New(clustertest.Unformed, clustertest.WithClaims), 3).down(0, 1, 2), false, "False "},
		"all first members are there, formed": {lost(observed(clustertest.New(), 3)), true, "True AllMembersReady"},
	} {
		t.Run(name, func(t *testing.T) {
			w := test.world
			plan := planAt(w.c, w.facts, clustertest.Noon)
			if held := len(plan.Children)+len(plan.Prune)+len(plan.Patches) == 0 && plan.Step == nil; held != test.held {
				t.Errorf("expected that nothing is changed: %v, got %d children, kinds %d to prune, %d patches", test.held, len(plan.Children), len(plan.Prune), len(plan.Patches))
			}
			reportAt(w.c, w.facts, kit.Outcome{}, clustertest.Noon)
			ready := meta.FindStatusCondition(w.c.Status.Conditions, etcdv1beta2.EtcdClusterReady)
			if got := string(ready.Status) + " " + ready.Reason + ": " + ready.Message; !strings.HasPrefix(got, test.ready) {
				t.Errorf("expected %q, got %q", test.ready, got)
			}
			if adopted := w.c.Status.ClusterID != ""; adopted != strings.HasPrefix(test.ready, "True") {
				t.Errorf("expected the cluster to be known again: %v, got %q", strings.HasPrefix(test.ready, "True"), w.c.Status.ClusterID)
			}
		})
	}
}

// drop removes a member from etcd's member list but keeps its pod.
func (w world) drop(serial int64) world {
	for i, m := range w.view.Members {
		if m.ID == w.id(serial) {
			w.view.Members = append(w.view.Members[:i:i], w.view.Members[i+1:]...)
			break
		}
	}
	delete(w.view.Status, w.id(serial))
	return w
}
