// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
)

// settled makes all records in the status match the storage in the current spec.
func settled(b *etcdv1beta2.EtcdBackup) {
	b.Status.Run.Place = whereTo(b)
	b.Status.Last.Place = whereTo(b)
	proven := *b.Status.Last
	b.Status.Verified = &proven
}

func goesElsewhere(b *etcdv1beta2.EtcdBackup) { b.Spec.S3.Endpoint = "http://another:9000" }

func TestABackupReportsWhichClusterItIsAndWhenItWasSaved(t *testing.T) {
	b := backuptest.New(backuptest.Every(3600), backuptest.Verified(1), backuptest.InRun(etcdv1beta2.RunRunning, 0))
	b.Status.Run.Place = whereTo(b)
	saved := good
	saved.ClusterID = "00000000000000c1"
	b = reported(t, b, facts{pods: pods(podOf(b, save, 1, reporting(0, saved)))})
	if last := b.Status.Last; last.ClusterID != saved.ClusterID || last.Place != "S3 backups/example" {
		t.Errorf("expected the cluster and the place to be recorded, got %+v", last)
	}
	proof := good
	proof.EndedAt = backuptest.Noon.Add(time.Hour)
	b = reported(t, b, facts{pods: pods(podOf(b, verify, 1, reporting(0, proof)))})
	if v := b.Status.Verified; v == nil || v.ClusterID != saved.ClusterID || v.SavedAt == nil || !v.SavedAt.Time.Equal(backuptest.Noon) || !v.Time.Time.Equal(proof.EndedAt) {
		t.Errorf("expected the verification to record when it was saved, got %+v", v)
	}
}

func TestWhatWasProvenElsewhereIsForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		change backuptest.Option
		want   string
	}{
		"nothing was changed":     {backuptest.Edited, backuptest.SevenMade},
		"another Secret":          {func(b *etcdv1beta2.EtcdBackup) { b.Spec.S3.AWSSecret = "rotated" }, backuptest.SevenMade},
		"another server":          {goesElsewhere, ""},
		"another path":            {backuptest.WithPath("backups/new"), ""},
		"a volume":                {intoClaim, ""},
		"the members, by another": {ofCluster, ""},
	} {
		out := reported(t, backuptest.New(backuptest.Every(3600), backuptest.Verified(1), backuptest.HasSaved, backuptest.InRun(etcdv1beta2.RunSucceeded, 0), settled, c.change), facts{})
		got := ""
		if out.Status.Verified != nil {
			got = out.Status.Verified.Object
		}
		if got != c.want {
			t.Errorf("%s: expected %q to count as proven, got %q", name, c.want, got)
		}
	}
}

func TestARunEndsWhenTheSpecHasItSavedElsewhere(t *testing.T) {
	for phase, c := range map[string]struct {
		task task
		want string
	}{
		etcdv1beta2.RunRunning: {save, "False SpecChanged: the storage or the cluster in the spec has changed since this backup was started; the last successful backup is " +
			backuptest.SevenMade + ": revision 7, 20480 bytes, at 2026-08-01T11:00:00Z"},
		etcdv1beta2.RunVerifying: {verify, "True Saved: Saved " + backuptest.SevenMade},
	} {
		b := backuptest.New(backuptest.Every(3600), backuptest.Verified(1), backuptest.HasSaved, backuptest.InRun(phase, 0), settled, goesElsewhere, backuptest.Edited)
		for name, at := range map[string][]corev1.Pod{"its pod is at work": pods(podOf(b, c.task, 1)), "it has no pod": nil} {
			f := facts{now: backuptest.Noon, pods: at}
			out := reported(t, b, f)
			if got := conditionOf(out, "Ready"); got != c.want {
				t.Errorf("%s, %s: expected\n%s, got\n%s", phase, name, c.want, got)
			}
			if _, busy := atWork(out); busy || len(planAt(b, f, backuptest.Noon).Children) > 0 {
				t.Errorf("%s, %s: expected the run to have ended, and no pod to be made, got %+v", phase, name, out.Status.Run)
			}
			if v := judge(out, attempts{now: backuptest.Noon}); phase == etcdv1beta2.RunRunning && v.open.IsZero() {
				t.Errorf("%s, %s: expected one of the new spec to follow, got %+v", phase, name, v)
			}
		}
	}
}

func TestARunOfATimeThatHasNotComeEndsAndTheScheduleGoesOn(t *testing.T) {
	for phase, c := range map[string]struct {
		task task
		want string
	}{
		etcdv1beta2.RunRunning: {save, "False NotYetDue: this backup was started for 2027-08-02T12:00:00Z, which is in the future: a clock is or was wrong, or status.run was edited" +
			"; the last successful backup is " + backuptest.SevenMade + ": revision 7, 20480 bytes, at 2026-08-01T11:00:00Z"},
		etcdv1beta2.RunVerifying: {verify, "True Saved: Saved " + backuptest.SevenMade},
	} {
		b := backuptest.New(backuptest.Every(3600), backuptest.Verified(1), backuptest.HasSaved, backuptest.InRun(phase, backuptest.NextYear), settled)
		pod := podOf(b, c.task, 1)
		f := facts{now: backuptest.Noon, pods: pods(pod)}
		out := reported(t, b, f)
		if got := conditionOf(out, "Ready"); got != c.want {
			t.Errorf("%s: expected\n%s, got\n%s", phase, c.want, got)
		}
		if plan := planAt(b, facts{now: backuptest.Noon}, backuptest.Noon); len(plan.Children) > 0 {
			t.Errorf("%s: expected no pod to be made", phase)
		}
		next := reported(t, out, facts{})
		if run := next.Status.Run; run.Phase != etcdv1beta2.RunRunning || !run.Due.Time.Equal(backuptest.Noon) {
			t.Errorf("%s: expected the one of noon to follow, got %+v", phase, run)
		}
		if planAt(next, facts{now: backuptest.Noon}, backuptest.Noon).Stays(&pod) {
			t.Errorf("%s: expected its pod to go when another run is begun", phase)
		}
	}
	once := backuptest.New(backuptest.InRun(etcdv1beta2.RunRunning, backuptest.NextYear))
	if v := judge(once, attempts{now: backuptest.Noon}); v.over != nil || v.make == nil {
		t.Errorf("expected a backup that is made once, and not named by a time, to be made, got %+v", v)
	}
}
