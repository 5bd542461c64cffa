// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

func TestARestoreIsWrittenDownBeforeAnythingIsDone(t *testing.T) {
	for name, w := range map[string]world{
		"of a cluster that runs":        observed(clustertest.New(clustertest.WithClaims), 3),
		"of one that has lost all":      observed(clustertest.New(), 3).without(0, 1, 2),
		"of one that was never there":   observed(clustertest.New(clustertest.Unformed), 0),
		"of one whose first members go": observed(clustertest.New(clustertest.Unformed), 3),
	} {
		w = w.wantsRestore()
		if plan := planAt(w.c, w.facts, clustertest.Noon); len(plan.Children)+len(plan.Prune) > 0 || plan.Step != nil {
			t.Errorf("%s: expected nothing to be done yet, got %+v", name, plan)
		}
		at := reported(w).Status.Restore
		if at == nil || at.Phase != etcdv1beta2.PhaseRestoring || at.UID != "uid-of-restore" || at.Serial < 1 {
			t.Errorf("%s: expected it to be written down, got %+v", name, at)
		}
	}
}

func TestWhatIsNoRestoreToBeginWith(t *testing.T) {
	asked := func(change func(*etcdv1beta2.EtcdRestore)) world {
		w := observed(clustertest.New(clustertest.WithClaims), 3).wantsRestore()
		change(w.restore)
		return w
	}
	none := func(*etcdv1beta2.EtcdRestore) {}
	for name, w := range map[string]world{
		"one that succeeded":           asked(func(r *etcdv1beta2.EtcdRestore) { r.Status.Succeeded = true }),
		"one that is being deleted":    asked(func(r *etcdv1beta2.EtcdRestore) { r.DeletionTimestamp = &metav1.Time{Time: clustertest.Noon} }),
		"one of a cluster that sleeps": asked(none).asks(clustertest.Hibernates),
		"one that was done": asked(none).asks(func(c *etcdv1beta2.EtcdCluster) {
			c.Status.Lineage = "uid-of-restore"
			c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: "uid-of-restore", Phase: etcdv1beta2.PhaseRestored}
		}),
		"one behind pods of an earlier one":             func() world { w := asked(none); w.others.Pods = []*corev1.Pod{{}}; return w }(),
		"one of a cluster that is paused by annotation": pausedNow(asked(none)),
	} {
		if w.takesUp(w.c) {
			t.Errorf("expected %s to be left alone", name)
		}
	}
}

func unfit(w world) world {
	w.unfit = model.NewObstacle(etcdv1beta2.ReasonSecretMissing, "s3.awsSecret: there is no Secret aws")
	return w
}

func TestARestoreThatCannotBeginHoldsNothingUp(t *testing.T) {
	w := unfit(observed(clustertest.New(clustertest.WithClaims), 3).wantsRestore())
	if w.takesUp(w.c) || w.again(w.c, w.decide(w.c)) == 0 {
		t.Error("expected the cluster to go on as it is, and to look again")
	}
	if got := conditionOf(reported(w), "Ready"); !strings.HasPrefix(got, "True ") {
		t.Errorf("expected a cluster that is well to say so, got %s", got)
	}
	if w := unfit(recovering().wantsRestore()); w.restoreInput(w.c).IsCalledOff() {
		t.Error("expected a recovery to go on")
	}
	if w := unfit(observed(clustertest.New(clustertest.Unformed), 0).wantsRestore()); !w.takesUp(w.c) {
		t.Error("expected a cluster that is to begin with the backup to wait for it")
	}
}

func TestWhatARestoreLacksIsLookedForBeforeItIsTakenUp(t *testing.T) {
	secret := &corev1.Secret{}
	secret.Name = "aws"
	for name, c := range map[string]struct {
		world world
		live  []client.Object
		want  bool
	}{
		"there is no Secret": {observed(clustertest.New(clustertest.WithClaims), 3).wantsRestore(), nil, true},
		"there is":           {observed(clustertest.New(clustertest.WithClaims), 3).wantsRestore(), []client.Object{secret}, false},
		"it was taken up":    {observed(clustertest.New(clustertest.WithClaims), 3).wantsRestore().takenUp(), nil, false},
		"there is no quorum, and a recovery goes on": {recovering().wantsRestore(), nil, true},
	} {
		secret.Namespace = c.world.c.Namespace
		if err := reading(t, nil, c.live).observeFit(t.Context(), c.world.c, &c.world.facts); err != nil {
			t.Fatal(err)
		}
		if got := c.world.unfit != nil; got != c.want {
			t.Errorf("%s: expected the restore to be reported unfit: %t, got %+v", name, c.want, c.world.unfit)
		}
	}
}
