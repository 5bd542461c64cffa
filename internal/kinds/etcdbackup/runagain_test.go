// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"strings"
	"testing"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
)

func TestABackupThatFailedForGoodSaysWhatToDo(t *testing.T) {
	const words = "S3: connection refused; no backup has succeeded yet; opcrew does not retry this backup: " +
		"edit the object, set its annotation etcd.opcrew.io/retry to a new value, or create another EtcdBackup"
	b := backuptest.New(backuptest.InRun(etcdv1beta2.RunRunning, 0))
	failed := reported(t, b, facts{pods: pods(podOf(b, save, 3, reporting(0, away)))})
	if got := conditionOf(failed, "Ready"); got != "False ServerUnreachable: "+words {
		t.Errorf("expected Ready to say how to go on, got %s", got)
	}
	failed.Annotations = map[string]string{etcdv1beta2.RetryAnnotation: "please"}
	again := reported(t, failed, facts{})
	if run := again.Status.Run; run.Phase != etcdv1beta2.RunRunning || run.Retry != "please" || strings.Contains(conditionOf(again, "Ready"), "does not retry") {
		t.Errorf("expected another run to be begun for it, got %+v, %s", run, conditionOf(again, "Ready"))
	}
	hourly := backuptest.New(backuptest.Every(3600), backuptest.InRun(etcdv1beta2.RunRunning, 0))
	if got := conditionOf(reported(t, hourly, facts{pods: pods(podOf(hourly, save, 3, reporting(0, away)))}), "Ready"); strings.Contains(got, "does not retry") {
		t.Errorf("expected no advice to do what the schedule does, got %s", got)
	}
}

func TestARunThatFailedIsCountedUntilTheNextTimeOfTheSchedule(t *testing.T) {
	b := backuptest.New(backuptest.Every(3600), backuptest.InRun(etcdv1beta2.RunRunning, 0), backuptest.HasSaved)
	b.Status.Run.Failures = 2 // this is the third failure since noon
	failed := reported(t, b, facts{now: backuptest.Noon, pods: pods(podOf(b, save, 3, reporting(0, away)))})
	if run := failed.Status.Run; run.Failures != 3 || run.Reason != "ServerUnreachable" || !run.Ended.Time.Equal(backuptest.Noon) {
		t.Errorf("expected the third failure to be noted, got %+v", run)
	}
	if next := backuptest.Clock(failed.Status.NextDate.Time); next != "12:04:00" {
		t.Errorf("expected the status to say at once that it is made again after four minutes, got %s", next)
	}
	failed.CreationTimestamp.Time, failed.Status.Run.Ended.Time = backuptest.Noon.Add(-30*time.Minute), backuptest.Noon.Add(-5*time.Minute)
	failed.Status.Run.Due.Time = backuptest.Noon.Add(-30 * time.Minute)
	if run := reported(t, failed, facts{now: backuptest.Noon}).Status.Run; run.Phase != etcdv1beta2.RunRunning || run.Failures != 3 || backuptest.Clock(run.Due.Time) != "11:59:00" {
		t.Errorf("expected it to be made again as of 11:59, the fourth, got %+v", run)
	}
	failed.Status.Run.Due.Time = backuptest.Noon.Add(-90 * time.Minute)
	if run := reported(t, failed, facts{now: backuptest.Noon}).Status.Run; run.Phase != etcdv1beta2.RunRunning || run.Failures != 0 || backuptest.Clock(run.Due.Time) != "11:30:00" {
		t.Errorf("expected the next time of the schedule to begin from the beginning, got %+v", run)
	}
	good := reported(t, b, facts{now: backuptest.Noon, pods: pods(podOf(b, save, 1, reporting(0, good)))})
	if run := good.Status.Run; run.Failures != 0 || run.Ended != nil || run.Reason != "" {
		t.Errorf("expected nothing to be said of failures after a success, got %+v", run)
	}
}
