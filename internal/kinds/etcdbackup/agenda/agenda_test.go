// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"strings"
	"testing"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
)

func TestWhenABackupIsDue(t *testing.T) {
	const begun, failed, done = etcdv1beta2.RunRunning, etcdv1beta2.RunFailed, etcdv1beta2.RunSucceeded
	for name, c := range map[string]struct {
		backup    *etcdv1beta2.EtcdBackup
		after     time.Duration // time of the call, counted from noon; the object was created at noon
		due, next string
		wrong     string
	}{
		"one, at once":                            {backuptest.New(), time.Second, "12:00:01", "", ""},
		"one that succeeded, never again":         {backuptest.New(backuptest.InRun(done, 0), backuptest.Edited), time.Hour, "", "", ""},
		"one that failed, not by itself":          {backuptest.New(backuptest.InRun(failed, 0)), time.Hour, "", "", ""},
		"one that failed, for another spec":       {backuptest.New(backuptest.InRun(failed, 0), backuptest.Edited), time.Hour, "13:00:00", "", ""},
		"one that failed this second, edited":     {backuptest.New(backuptest.InRun(failed, time.Hour), backuptest.Edited), time.Hour, "13:00:01", "", ""},
		"one that another operator has made":      {backuptest.New(backuptest.FromCoreOS), time.Hour, "", "", ""},
		"one that is made":                        {backuptest.New(backuptest.InRun(begun, 0)), time.Hour, "", "", ""},
		"each hour, the first at once":            {backuptest.New(backuptest.Every(3600)), time.Second, "12:00:00", "13:00:00", ""},
		"each hour, not due yet":                  {backuptest.New(backuptest.Every(3600), backuptest.InRun(done, 0)), 59 * time.Minute, "", "13:00:00", ""},
		"each hour, the next":                     {backuptest.New(backuptest.Every(3600), backuptest.InRun(done, 0)), time.Hour, "13:00:00", "14:00:00", ""},
		"each hour, of many missed only the last": {backuptest.New(backuptest.Every(3600), backuptest.InRun(failed, 0)), 10*time.Hour + time.Minute, "22:00:00", "23:00:00", ""},
		"each hour, by a clock that was set back": {backuptest.New(backuptest.Every(3600)), -time.Minute, "", "12:00:00", ""},
		"each hour, the last was of next year":    {backuptest.New(backuptest.Every(3600), backuptest.InRun(done, backuptest.NextYear)), time.Hour, "13:00:00", "14:00:00", ""},
		"each hour, it failed, and was edited":    {backuptest.New(backuptest.Every(3600), backuptest.InRun(failed, backuptest.NextYear), backuptest.Edited), time.Hour, "13:00:00", "14:00:00", ""},
		"each hour, by a clock a minute behind":   {backuptest.New(backuptest.Every(3600), backuptest.InRun(done, time.Hour)), 59 * time.Minute, "", "13:00:00", ""},
		"by cron, the last was of next year":      {backuptest.New(backuptest.Cron("30 * * * *", ""), backuptest.InRun(done, backuptest.NextYear)), time.Hour, "12:30:00", "13:30:00", ""},
		"by cron, of next year, and edited":       {backuptest.New(backuptest.Cron("30 * * * *", ""), backuptest.InRun(failed, backuptest.NextYear), backuptest.Edited), time.Minute, "12:01:00", "12:30:00", ""},
		"one of next year that failed, edited":    {backuptest.New(backuptest.InRun(failed, backuptest.NextYear), backuptest.Edited), time.Hour, "13:00:00", "", ""},
		"one of next year, never again":           {backuptest.New(backuptest.InRun(done, backuptest.NextYear)), time.Hour, "", "", ""},
		"by cron, not at once":                    {backuptest.New(backuptest.Cron("30 * * * *", "")), time.Minute, "", "12:30:00", ""},
		"by cron, the first":                      {backuptest.New(backuptest.Cron("30 * * * *", "")), 31 * time.Minute, "12:30:00", "13:30:00", ""},
		"by cron in a zone":                       {backuptest.New(backuptest.Cron("0 16 * * *", "Europe/Berlin")), 3 * time.Hour, "14:00:00", "14:00:00", ""},
		"by cron that never comes":                {backuptest.New(backuptest.Cron("0 0 31 2 *", "")), 0, "", "", "matches no future time"},
		"by cron that is none":                    {backuptest.New(backuptest.Cron("now and then", "")), 0, "", "", "write five fields"},
	} {
		got := Of(c.backup, backuptest.Noon.Add(c.after))
		if due := backuptest.Clock(got.Due); due != c.due {
			t.Errorf("%s: expected it to be due at %q, got %q", name, c.due, due)
		}
		if next := backuptest.Clock(got.Next); next != c.next {
			t.Errorf("%s: expected the next at %q, got %q", name, c.next, next)
		}
		if !strings.Contains(got.Wrong, c.wrong) || (c.wrong == "") != (got.Wrong == "") {
			t.Errorf("%s: expected %q to be wrong, got %q", name, c.wrong, got.Wrong)
		}
	}
}
