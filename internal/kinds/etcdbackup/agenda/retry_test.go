// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"testing"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func TestWhenARunThatFailedIsMadeAgain(t *testing.T) {
	const away, denied = backup.ReasonStoreUnreachable, backup.ReasonAccessDenied
	hourly := func(options ...backuptest.Option) *etcdv1beta2.EtcdBackup {
		return backuptest.New(append([]backuptest.Option{backuptest.Every(3600), backuptest.InRun(etcdv1beta2.RunFailed, 0)}, options...)...)
	}
	for name, c := range map[string]struct {
		backup    *etcdv1beta2.EtcdBackup
		after     time.Duration // time of the call, counted from noon; the failed run was due at noon
		due, next string
		tried     int32
	}{
		"not at once":    {hourly(backuptest.Failed(2*time.Minute, away, 1)), 2 * time.Minute, "", "12:03:00", 0},
		"after a minute": {hourly(backuptest.Failed(2*time.Minute, away, 1)), 3 * time.Minute, "12:03:00", "13:00:00", 1},
		"of that minute if the operator was down": {hourly(backuptest.Failed(2*time.Minute, away, 1)), 50 * time.Minute, "12:03:00", "13:00:00", 1},
		"after four if three have failed":         {hourly(backuptest.Failed(9*time.Minute, away, 3)), 10 * time.Minute, "", "12:13:00", 0},
		"after half of an hour at most":           {hourly(backuptest.Failed(20*time.Minute, away, 9)), 21 * time.Minute, "", "12:50:00", 0},
		"not if the next comes before":            {hourly(backuptest.Failed(40*time.Minute, away, 9)), 41 * time.Minute, "", "13:00:00", 0},
		"with the next, from the beginning":       {hourly(backuptest.Failed(40*time.Minute, away, 9)), time.Hour, "13:00:00", "14:00:00", 0},
		"not by itself if it was denied":          {hourly(backuptest.Failed(2*time.Minute, denied, 1)), 50 * time.Minute, "", "13:00:00", 0},
		"if it was denied, for another spec":      {hourly(backuptest.Failed(2*time.Minute, denied, 1), backuptest.Edited), 4 * time.Minute, "12:04:00", "13:00:00", 0},
		"for another spec, without the minute":    {hourly(backuptest.Failed(2*time.Minute, away, 3), backuptest.Edited), 2 * time.Minute, "12:02:00", "13:00:00", 0},
		"of what is not known here":               {hourly(backuptest.Failed(2*time.Minute, "Unheard", 1)), 3 * time.Minute, "12:03:00", "13:00:00", 1},
		"not if the end is not recorded":          {hourly(), 50 * time.Minute, "", "13:00:00", 0},
		"by cron":                                 {backuptest.New(backuptest.Cron("0 */6 * * *", ""), backuptest.InRun("", 0), backuptest.Failed(2*time.Minute, away, 8)), 3 * time.Minute, "", "14:10:00", 0},
		"by cron, after half of it at most":       {backuptest.New(backuptest.Cron("0 */6 * * *", ""), backuptest.InRun("", 0), backuptest.Failed(2*time.Minute, away, 99)), 3 * time.Minute, "", "15:02:00", 0},
		"if it was denied, when a user asks":      {hourly(backuptest.Failed(2*time.Minute, denied, 1), backuptest.Asked("2")), 4 * time.Minute, "12:04:00", "13:00:00", 0},
		"of one that is made once, when asked":    {backuptest.New(backuptest.InRun("", 0), backuptest.Failed(2*time.Minute, away, 1), backuptest.Asked("2")), time.Hour, "13:00:00", "", 0},
		"not when that was asked before":          {backuptest.New(backuptest.InRun("", 0), backuptest.Failed(2*time.Minute, away, 1), backuptest.Asked("1")), time.Hour, "", "", 0},
		"not when the request is removed":         {backuptest.New(backuptest.InRun("", 0), backuptest.Failed(2*time.Minute, away, 1), backuptest.Asked("")), time.Hour, "", "", 0},
		"nor if it succeeded":                     {backuptest.New(backuptest.InRun(etcdv1beta2.RunSucceeded, 0), backuptest.HasSaved, backuptest.Asked("2")), time.Hour, "", "", 0},
		"of one that is made only once":           {backuptest.New(backuptest.InRun("", 0), backuptest.Failed(2*time.Minute, away, 1)), time.Hour, "", "", 0},
	} {
		got := Of(c.backup, backuptest.Noon.Add(c.after))
		if backuptest.Clock(got.Due) != c.due || backuptest.Clock(got.Next) != c.next || got.Tried != c.tried {
			t.Errorf("%s: expected it to be due at %q after %d, and the next at %q; got %q after %d, and %q",
				name, c.due, c.tried, c.next, backuptest.Clock(got.Due), got.Tried, backuptest.Clock(got.Next))
		}
	}
}
