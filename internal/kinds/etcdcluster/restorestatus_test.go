// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

func TestWhatKeepsARestoreFromGoingOnIsReportedAndTheClusterStaysWhatItIs(t *testing.T) {
	begun := func() world { return observed(clustertest.New(), 3).wantsRestore().takenUp() }
	lacking := begun()
	lacking.needs = model.NewObstacle(etcdv1beta2.ReasonSecretMissing, "s3.awsSecret: there is no Secret aws")
	senseless := begun()
	senseless.restore.Spec.Object = "of-another"
	const stays = "; the cluster is unchanged until the restored member serves clients"
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"no pod yet":        {begun(), "False Restoring: EtcdRestore example: the pod of member " + begun().restoreInput(begun().c).Seed().Name + " is being created" + stays},
		"no Secret":         {lacking, "False SecretMissing: EtcdRestore example: s3.awsSecret: there is no Secret aws" + stays},
		"an object of none": {senseless, `False InvalidSpec: EtcdRestore example: "of-another" is not a backup of the path "backups/example"` + stays},
		"it reads":          {begun().seeded(), "False Restoring: EtcdRestore example: member " + begun().restoreInput(begun().c).Seed().Name + " reads the backup" + stays},
		"no such object": {begun().seeded().restored(backup.Result{Outcome: backup.Failed, Reason: backup.ReasonObjectMissing, Message: "backups/example does not exist"}),
			"False ObjectMissing: EtcdRestore example: backups/example does not exist" + stays},
		"too new for it": {begun().seeded().restored(backup.Result{Outcome: backup.Succeeded, Object: "backups/example", EtcdVersion: "3.6.16"}),
			"False ImpossibleVersion: EtcdRestore example: backups/example was written by etcd 3.6.16, which version 3.5.35 may not be able to read: set spec.version to 3.6.16 or later" + stays},
		"it starts": {begun().seeded().restored(whole), "False Restoring: EtcdRestore example: member " + begun().restoreInput(begun().c).Seed().Name + " starts with backups/example" + stays},
	} {
		if got := conditionOf(reported(c.world), "Ready"); got != c.want {
			t.Errorf("%s: expected\n%s, got\n%s", name, c.want, got)
		}
	}
}

func TestWhileARestoreGoesOnPodsThatAreGoneComeBackOnTheirClaims(t *testing.T) {
	lacking := func(w world) world { w.needs = model.NewObstacle(etcdv1beta2.ReasonSecretMissing, "gone"); return w }
	for name, c := range map[string]struct {
		world world
		want  []int64
	}{
		"all are there":          {observed(clustertest.New(clustertest.WithClaims), 3).down(0, 1).wantsRestore().takenUp(), nil},
		"two are gone":           {observed(clustertest.New(clustertest.WithClaims), 3).without(1, 2).wantsRestore().takenUp(), []int64{1, 2}},
		"and the seed is stuck":  {lacking(observed(clustertest.New(clustertest.WithClaims), 3).without(1, 2).wantsRestore().takenUp()), []int64{1, 2}},
		"one has lost its claim": {observed(clustertest.New(clustertest.WithClaims), 3).without(1, 2).unclaimed(1).wantsRestore().takenUp(), []int64{2}},
		"they have none":         {observed(clustertest.New(), 3).without(1, 2).wantsRestore().takenUp(), nil},
		"it is a recovery":       {recovering(), nil},
	} {
		var want, got []string
		for _, serial := range c.want {
			want = append(want, model.MemberName(c.world.c, serial))
		}
		seed := c.world.restoreInput(c.world.c).Seed().Name
		for _, child := range planAt(c.world.c, c.world.facts, clustertest.Noon).Children {
			if pod, ok := child.Object.(*corev1ac.PodApplyConfiguration); ok && *pod.Name != seed {
				got = append(got, *pod.Name)
				if pod.Annotations[etcdv1beta2.VersionAnnotation] != "3.5.35" || pod.Labels[model.VoterLabel] != model.IsVoter || !strings.HasPrefix(pod.Annotations[model.StartAnnotation], string(etcdstart.Established)) {
					t.Errorf("%s: expected the pod to be what it was, got %+v", name, pod.ObjectMetaApplyConfiguration)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: expected pods %q, got %q", name, want, got)
		}
	}
}

func TestWhileARestoreGoesOnAvailableIsOnlySaidAsFarAsPodsTell(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims), 3)
	w.c = reported(w)
	w = w.wantsRestore().takenUp()
	is := func(want string) {
		t.Helper()
		w.c = reported(w)
		if got := conditionOf(w.c, etcdv1beta2.EtcdClusterAvailable); got != want {
			t.Errorf("expected %s, got %s", want, got)
		}
	}
	is("True ClusterAvailable: Cluster available: 3 of 3 voters are healthy, 2 are needed")
	w = w.unprobed(1)
	is("True ClusterAvailable: Cluster available: 3 of 3 voters are healthy, 2 are needed")
	w.pods[model.MemberName(w.c, 1)].Status.Conditions = nil
	delete(w.pods, model.MemberName(w.c, 2))
	is("Unknown Restoring: 1 of 3 pods of voters are ready, 2 are needed; opcrew does not query the members during a restore")
	w.pods[model.MemberName(w.c, 1)].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	is("True ClusterAvailable: Cluster available: 2 of 3 pods of voters are ready, 2 are needed")
}

func TestReadySaysWhoHoldsARestoreThatGoesOn(t *testing.T) {
	begun := func() world { return observed(clustertest.New(), 3).wantsRestore().takenUp().seeded().restored(whole) }
	paused := func(w world) world {
		return pausedNow(w.asks(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true }))
	}
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"spec.paused":    {paused(begun().serving()), "False Paused: EtcdRestore example: the restore waits until spec.paused is removed"},
		"by annotation":  {pausedNow(begun().serving()), "False Paused: EtcdRestore example: the restore waits until annotation opcrew.io/paused is removed"},
		"spec.hibernate": {begun().serving().asks(clustertest.Hibernates), "False Hibernating: EtcdRestore example: the restore waits until spec.hibernate is removed; until then the cluster does not switch to the restored member"},
		"while it reads": {pausedNow(begun()), "False Paused: EtcdRestore example: the restore waits until annotation opcrew.io/paused is removed"},
	} {
		c.world.seedIsLive = false
		if err := reading(t, nil, []client.Object{c.world.restore, c.world.others.Pods[0]}).confirmSeed(t.Context(), c.world.c, &c.world.facts); err != nil {
			t.Fatal(err)
		}
		got := reported(c.world)
		if ready := conditionOf(got, "Ready"); !strings.HasPrefix(ready, c.want) || got.Status.Lineage != "" {
			t.Errorf("%s: expected the cluster to stay, and\n%s, got\n%s", name, c.want, ready)
		}
	}
}
