// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"strings"
	"testing"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func TestWhenARunThatFailedIsMadeAgain(t *testing.T) {
	const away, denied = backup.ReasonStoreUnreachable, backup.ReasonAccessDenied
	hourly := func(options ...option) *etcdv1beta2.EtcdBackup {
		return newBackup(append([]option{every(3600), inRun(etcdv1beta2.RunFailed, 0)}, options...)...)
	}
	for name, c := range map[string]struct {
		backup    *etcdv1beta2.EtcdBackup
		after     time.Duration // noon, when the run was due
		due, next string
		tried     int32
	}{
		"not at once":                          {hourly(gaveUp(2*time.Minute, away, 1)), 2 * time.Minute, "", "12:03:00", 0},
		"after a minute":                       {hourly(gaveUp(2*time.Minute, away, 1)), 3 * time.Minute, "12:03:00", "13:00:00", 1},
		"of that minute if nobody was here":    {hourly(gaveUp(2*time.Minute, away, 1)), 50 * time.Minute, "12:03:00", "13:00:00", 1},
		"after four if three have failed":      {hourly(gaveUp(9*time.Minute, away, 3)), 10 * time.Minute, "", "12:13:00", 0},
		"after half of an hour at most":        {hourly(gaveUp(20*time.Minute, away, 9)), 21 * time.Minute, "", "12:50:00", 0},
		"not if the next comes before":         {hourly(gaveUp(40*time.Minute, away, 9)), 41 * time.Minute, "", "13:00:00", 0},
		"with the next, from the beginning":    {hourly(gaveUp(40*time.Minute, away, 9)), time.Hour, "13:00:00", "14:00:00", 0},
		"not by itself if it was denied":       {hourly(gaveUp(2*time.Minute, denied, 1)), 50 * time.Minute, "", "13:00:00", 0},
		"if it was denied, for another spec":   {hourly(gaveUp(2*time.Minute, denied, 1), edited), 4 * time.Minute, "12:04:00", "13:00:00", 0},
		"for another spec, without the minute": {hourly(gaveUp(2*time.Minute, away, 3), edited), 2 * time.Minute, "12:02:00", "13:00:00", 0},
		"of what is not known here":            {hourly(gaveUp(2*time.Minute, "Unheard", 1)), 3 * time.Minute, "12:03:00", "13:00:00", 1},
		"not if nobody knows when it failed":   {hourly(), 50 * time.Minute, "", "13:00:00", 0},
		"by cron":                              {newBackup(cron("0 */6 * * *", ""), inRun("", 0), gaveUp(2*time.Minute, away, 8)), 3 * time.Minute, "", "14:10:00", 0},
		"by cron, after half of it at most":    {newBackup(cron("0 */6 * * *", ""), inRun("", 0), gaveUp(2*time.Minute, away, 99)), 3 * time.Minute, "", "15:02:00", 0},
		"if it was denied, when somebody asks": {hourly(gaveUp(2*time.Minute, denied, 1), asked("2")), 4 * time.Minute, "12:04:00", "13:00:00", 0},
		"of one that is made once, when asked": {newBackup(inRun("", 0), gaveUp(2*time.Minute, away, 1), asked("2")), time.Hour, "13:00:00", "", 0},
		"not when that was asked before":       {newBackup(inRun("", 0), gaveUp(2*time.Minute, away, 1), asked("1")), time.Hour, "", "", 0},
		"not when nobody asks any more":        {newBackup(inRun("", 0), gaveUp(2*time.Minute, away, 1), asked("")), time.Hour, "", "", 0},
		"nor if it succeeded":                  {newBackup(inRun(etcdv1beta2.RunSucceeded, 0), hasSaved, asked("2")), time.Hour, "", "", 0},
		"of one that is made only once":        {newBackup(inRun("", 0), gaveUp(2*time.Minute, away, 1)), time.Hour, "", "", 0},
	} {
		got := agendaOf(c.backup, noon.Add(c.after))
		if clock(got.due) != c.due || clock(got.next) != c.next || got.tried != c.tried {
			t.Errorf("%s: expected it to be due at %q after %d, and the next at %q; got %q after %d, and %q",
				name, c.due, c.tried, c.next, clock(got.due), got.tried, clock(got.next))
		}
	}
}

// asked has someone ask for another try, of a run that was begun when they had asked for try 1.
func asked(value string) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Annotations, b.Status.Run.Retry = map[string]string{etcdv1beta2.RetryAnnotation: value}, "1"
	}
}

func TestABackupThatFailedForGoodSaysWhatToDo(t *testing.T) {
	const words = "S3: connection refused; no backup has succeeded yet; it is not made again by itself: " +
		"edit the object, give its annotation etcd.opcrew.io/retry a new value, or make another"
	b := newBackup(inRun(etcdv1beta2.RunRunning, 0))
	failed := reported(t, b, facts{pods: pods(podOf(b, save, 3, told(0, away)))})
	if got := conditionOf(failed, "Ready"); got != "False ServerUnreachable: "+words {
		t.Errorf("expected Ready to say how to go on, got %s", got)
	}
	failed.Annotations = map[string]string{etcdv1beta2.RetryAnnotation: "please"}
	again := reported(t, failed, facts{})
	if run := again.Status.Run; run.Phase != etcdv1beta2.RunRunning || run.Retry != "please" || strings.Contains(conditionOf(again, "Ready"), "by itself") {
		t.Errorf("expected another run to be begun for it, got %+v, %s", run, conditionOf(again, "Ready"))
	}
	hourly := newBackup(every(3600), inRun(etcdv1beta2.RunRunning, 0))
	if got := conditionOf(reported(t, hourly, facts{pods: pods(podOf(hourly, save, 3, told(0, away)))}), "Ready"); strings.Contains(got, "by itself") {
		t.Errorf("expected nobody to be told to do what the schedule does, got %s", got)
	}
}

func TestARunThatFailedIsCountedUntilTheNextTimeOfTheSchedule(t *testing.T) {
	b := newBackup(every(3600), inRun(etcdv1beta2.RunRunning, 0), hasSaved)
	b.Status.Run.Failures = 2 // it is the third since noon
	failed := reported(t, b, facts{now: noon, pods: pods(podOf(b, save, 3, told(0, away)))})
	if run := failed.Status.Run; run.Failures != 3 || run.Reason != "ServerUnreachable" || !run.Ended.Time.Equal(noon) {
		t.Errorf("expected the third failure to be noted, got %+v", run)
	}
	if next := clock(failed.Status.NextDate.Time); next != "12:04:00" {
		t.Errorf("expected the status to say at once that it is made again after four minutes, got %s", next)
	}
	failed.CreationTimestamp.Time, failed.Status.Run.Ended.Time = noon.Add(-30*time.Minute), noon.Add(-5*time.Minute)
	failed.Status.Run.Due.Time = noon.Add(-30 * time.Minute)
	if run := reported(t, failed, facts{now: noon}).Status.Run; run.Phase != etcdv1beta2.RunRunning || run.Failures != 3 || clock(run.Due.Time) != "11:59:00" {
		t.Errorf("expected it to be made again as of 11:59, the fourth, got %+v", run)
	}
	failed.Status.Run.Due.Time = noon.Add(-90 * time.Minute)
	if run := reported(t, failed, facts{now: noon}).Status.Run; run.Phase != etcdv1beta2.RunRunning || run.Failures != 0 || clock(run.Due.Time) != "11:30:00" {
		t.Errorf("expected the next time of the schedule to begin from the beginning, got %+v", run)
	}
	good := reported(t, b, facts{now: noon, pods: pods(podOf(b, save, 1, told(0, good)))})
	if run := good.Status.Run; run.Failures != 0 || run.Ended != nil || run.Reason != "" {
		t.Errorf("expected nothing to be said of failures after a success, got %+v", run)
	}
}
