// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"strings"
	"testing"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

func TestWhenABackupIsDue(t *testing.T) {
	const begun, failed, done = etcdv1beta2.RunRunning, etcdv1beta2.RunFailed, etcdv1beta2.RunSucceeded
	for name, c := range map[string]struct {
		backup    *etcdv1beta2.EtcdBackup
		after     time.Duration // noon, when it was created
		due, next string
		wrong     string
	}{
		"one, at once":                            {newBackup(), time.Second, "12:00:01", "", ""},
		"one that succeeded, never again":         {newBackup(inRun(done, 0), edited), time.Hour, "", "", ""},
		"one that failed, not by itself":          {newBackup(inRun(failed, 0)), time.Hour, "", "", ""},
		"one that failed, for another spec":       {newBackup(inRun(failed, 0), edited), time.Hour, "13:00:00", "", ""},
		"one that failed this second, edited":     {newBackup(inRun(failed, time.Hour), edited), time.Hour, "13:00:01", "", ""},
		"one that another operator has made":      {newBackup(fromCoreOS), time.Hour, "", "", ""},
		"one that is made":                        {newBackup(inRun(begun, 0)), time.Hour, "", "", ""},
		"each hour, the first at once":            {newBackup(every(3600)), time.Second, "12:00:00", "13:00:00", ""},
		"each hour, not due yet":                  {newBackup(every(3600), inRun(done, 0)), 59 * time.Minute, "", "13:00:00", ""},
		"each hour, the next":                     {newBackup(every(3600), inRun(done, 0)), time.Hour, "13:00:00", "14:00:00", ""},
		"each hour, of many missed only the last": {newBackup(every(3600), inRun(failed, 0)), 10*time.Hour + time.Minute, "22:00:00", "23:00:00", ""},
		"each hour, by a clock that was set back": {newBackup(every(3600)), -time.Minute, "", "12:00:00", ""},
		"each hour, the last was of next year":    {newBackup(every(3600), inRun(done, nextYear)), time.Hour, "13:00:00", "14:00:00", ""},
		"each hour, it failed, and was edited":    {newBackup(every(3600), inRun(failed, nextYear), edited), time.Hour, "13:00:00", "14:00:00", ""},
		"each hour, by a clock a minute behind":   {newBackup(every(3600), inRun(done, time.Hour)), 59 * time.Minute, "", "13:00:00", ""},
		"by cron, the last was of next year":      {newBackup(cron("30 * * * *", ""), inRun(done, nextYear)), time.Hour, "12:30:00", "13:30:00", ""},
		"by cron, of next year, and edited":       {newBackup(cron("30 * * * *", ""), inRun(failed, nextYear), edited), time.Minute, "12:01:00", "12:30:00", ""},
		"one of next year that failed, edited":    {newBackup(inRun(failed, nextYear), edited), time.Hour, "13:00:00", "", ""},
		"one of next year, never again":           {newBackup(inRun(done, nextYear)), time.Hour, "", "", ""},
		"by cron, not at once":                    {newBackup(cron("30 * * * *", "")), time.Minute, "", "12:30:00", ""},
		"by cron, the first":                      {newBackup(cron("30 * * * *", "")), 31 * time.Minute, "12:30:00", "13:30:00", ""},
		"by cron in a zone":                       {newBackup(cron("0 16 * * *", "Europe/Berlin")), 3 * time.Hour, "14:00:00", "14:00:00", ""},
		"by cron that never comes":                {newBackup(cron("0 0 31 2 *", "")), 0, "", "", "never comes"},
		"by cron that is none":                    {newBackup(cron("now and then", "")), 0, "", "", "write five fields"},
	} {
		got := agendaOf(c.backup, noon.Add(c.after))
		if due := clock(got.due); due != c.due {
			t.Errorf("%s: expected it to be due at %q, got %q", name, c.due, due)
		}
		if next := clock(got.next); next != c.next {
			t.Errorf("%s: expected the next at %q, got %q", name, c.next, next)
		}
		if !strings.Contains(got.wrong, c.wrong) || (c.wrong == "") != (got.wrong == "") {
			t.Errorf("%s: expected %q to be wrong, got %q", name, c.wrong, got.wrong)
		}
	}
}

// nextYear is behind noon what no clock is by chance.
const nextYear = 366 * 24 * time.Hour

func clock(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.TimeOnly)
}
