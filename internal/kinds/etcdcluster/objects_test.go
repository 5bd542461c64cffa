// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/formation"
)

func TestThePlanOfAnObjectThatGoesIsEmpty(t *testing.T) {
	c := clustertest.New()
	c.DeletionTimestamp = &metav1.Time{Time: clustertest.Noon}
	if plan := planAt(c, facts{}, clustertest.Noon); len(plan.Children) > 0 || len(plan.Prune) > 0 || plan.Step != nil {
		t.Errorf("expected nothing to be done, got %+v", plan)
	}
}

func TestAnOldViewOfAFormedClusterBeginsNothing(t *testing.T) {
	c := clustertest.New(clustertest.Unformed)
	w := observed(c, 0)
	w.behind = true
	if plan := planAt(c, w.facts, clustertest.Noon); len(plan.Children) > 0 || plan.Again == 0 {
		t.Errorf("expected it to wait for a newer view, got %d children", len(plan.Children))
	}
}

func TestTheBudgetIsThereOnlyWhereThereIsMoreThanOneMember(t *testing.T) {
	for size, want := range map[int32]int{1: 5, 3: 8} { // network policy, services, config map, pods, and the budget
		c := clustertest.New(clustertest.Unformed, clustertest.Sized(size))
		w := observed(c, 0)
		if got := len(planAt(c, w.facts, clustertest.Noon).Children); got != want {
			t.Errorf("size %d: expected %d children, got %d", size, want, got)
		}
	}
}

func TestWhoStragglesIsWaitedForAWhile(t *testing.T) {
	c := clustertest.New(clustertest.Unformed)
	w := observed(c, 3)
	if !w.formation(c).IsFormed() {
		t.Error("expected a cluster all of whose members answer to be formed")
	}
	w = w.down(2)
	w.quorumSince = clustertest.Noon.Add(-time.Second)
	if w.formation(c).IsFormed() || w.formation(c).NextLook() != formation.StragglerTime-time.Second {
		t.Errorf("expected the third member to be waited for, another %s", w.formation(c).NextLook())
	}
	w.quorumSince = clustertest.Noon.Add(-formation.StragglerTime)
	if !w.formation(c).IsFormed() {
		t.Error("expected a quorum to be enough after a while")
	}
}

func TestAVariableThatIsNotPassedOnLeavesTheClusterReady(t *testing.T) {
	for _, name := range []string{"ETCD_SNAPSHOT_COUNT", "ETCD_LISTEN_METRICS_URLS", "ETCD_CERT_FILE"} {
		for _, c := range []*etcdv1beta2.EtcdCluster{clustertest.New(clustertest.WithEnv(name, "x")), clustertest.New(clustertest.WithAllTLS, clustertest.WithEnv(name, ""))} {
			if got := conditionOf(reported(observed(c, 3)), "Ready"); !strings.HasPrefix(got, "True ") {
				t.Errorf("%s: expected Ready to stay True, got %s", name, got)
			}
		}
	}
}
