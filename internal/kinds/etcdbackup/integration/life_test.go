// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// For one backup, the status is written twice: before its pod is created, and when the backup has ended.
func TestOneBackupTakesAPodAndTwoStatuses(t *testing.T) {
	s := newSite(t)
	s.made(secret("aws"))
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	s.create(withSecret("aws"))
	pod := s.awaitPod("save", 1)
	s.runs(pod)
	env.Settled(t, mark)
	order := s.succeeds(pod)
	b := s.await("True Saved", "backups/db: revision 42, 20512 bytes")
	if order.Target.Path != "backups/db" || !order.Save.Time.IsZero() {
		t.Errorf("expected an order of one backup, got %+v", order)
	}
	if st := b.Status; !st.Succeeded || st.Reason != "" || st.EtcdRevision != 42 || st.EtcdVersion != "3.6.16" || st.LastSuccessDate == nil || st.Count != 1 {
		t.Errorf("expected the status of a success, got %+v", st)
	}
	done := env.Settled(t, mark)
	t.Logf("calls: %v", done.Tally())
	want := map[string]int{
		"patch etcdbackups/status": 2, "patch pods": 1,
		// These reads bypass the cache: the Secret, the pod by name, and twice the EtcdBackup.
		"get secrets": 1, "get pods": 1, "get etcdbackups": 2,
	}
	if diff := cmp.Diff(want, done.Tally()); diff != "" {
		t.Errorf("not the calls that it takes (-expected +found):\n%s\n%s", diff, done)
	}
	if writes := done.Writes(); len(writes) == 3 && writes[1].Resource != "pods" {
		t.Errorf("expected the run to be written down before its pod is made, got:\n%s", writes)
	}
	env.Rests(t)
}

func TestASecondLookAndARestartWriteNothingAndAtRestThereIsNoCall(t *testing.T) {
	s := newSite(t)
	s.create(named("done"))
	s.create(named("busy"), every(3600))
	s.succeeds(s.awaitPodOf("done", "save", 1))
	s.runs(s.awaitPodOf("busy", "save", 1))
	s.awaitOf("done", "Ready", "True Saved")
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	mark := env.Audit.Mark(t)
	s.patch(s.get("done"), `{"metadata":{"annotations":{"example.com/note":"x"}}}`)
	if calls := env.Settled(t, mark); len(calls) > 0 {
		t.Errorf("expected no call for an annotation of another owner, got:\n%s", calls)
	}
	s.operator.Stop()
	mark = env.Audit.Mark(t)
	s.operator.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected a restart to write nothing, got:\n%s", writes)
	}
	env.Rests(t)
}

func TestAFailedAttemptIsFollowedByTheNextAfterItsPause(t *testing.T) {
	s := newSite(t)
	s.create()
	first := s.awaitPod("save", 1)
	s.runs(first)
	s.ends(first, 6*time.Second, away)
	failed := first.Status.ContainerStatuses[0].State.Terminated.FinishedAt
	s.await("False Retrying", "attempt 1 of 3 failed: S3: connection refused", "no backup has succeeded yet")
	second := s.awaitPod("save", 2)
	if after := second.CreationTimestamp.Sub(failed.Time); after < 9*time.Second || after > 16*time.Second {
		t.Errorf("expected the second attempt 10 s after the first had failed, got %s", after)
	}
	s.succeeds(second)
	s.await("True Saved")
	if b := s.get("db"); b.Status.Count != 1 || b.Status.Reason != "" {
		t.Errorf("expected one success, got %+v", b.Status)
	}
}

func TestThreeFailuresAreAFailureUntilTheSpecSaysSomethingElse(t *testing.T) {
	s := newSite(t)
	s.create()
	for attempt := range 3 {
		s.ends(s.awaitPod("save", attempt+1), time.Hour, away)
	}
	b := s.await("False StoreUnreachable", "S3: connection refused; no backup has succeeded yet")
	if b.Status.Run.Phase != etcdv1beta2.RunFailed || b.Status.Reason != "S3: connection refused" || b.Status.Succeeded {
		t.Errorf("expected the failure to be noted, got %+v", b.Status)
	}
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	mark := env.Audit.Mark(t)
	s.operator.Stop()
	s.operator.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected a restart not to try again, got:\n%s", writes)
	}
	s.edit(withPath("backups/other"))
	s.await("False Running", "the previous backup failed: S3: connection refused")
	if order := s.succeeds(s.awaitPod("save", 1)); order.Target.Path != "backups/other" {
		t.Errorf("expected the order of the new spec, got %+v", order)
	}
	s.await("True Saved", "backups/other")
	s.awaitPods(1)
}

// Regression: a new run started within the same second as the previous run. Its pod had the same name, so opcrew took
// the result of the old pod for the result of the new run.
func TestAnOrderThatMakesNoSenseIsNotTriedAgainButAtOnceWhenItIsEdited(t *testing.T) {
	s := newSite(t)
	s.create()
	s.ends(s.awaitPod("save", 1), 0, backup.Result{Outcome: backup.Invalid, Reason: backup.ReasonBadOrder, Message: "no such bucket can be"})
	s.await("False BadOrder", "no such bucket can be")
	s.edit(withPath("backups/other"))
	s.await("False Running", "the previous backup failed: no such bucket can be")
	s.succeeds(s.awaitPod("save", 1))
	if b := s.await("True Saved", "backups/other"); b.Status.Count != 1 {
		t.Errorf("expected one success, got %+v", b.Status)
	}
}

// awaitPods waits until the given number of pods exist.
func (s *site) awaitPods(n int) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("%d pods are there", n), func() error {
		if pods := s.pods(); len(pods) != n {
			return fmt.Errorf("there are %d", len(pods))
		}
		return nil
	})
}

func TestBackupsAreMadeAgainAndAgainAndEverySecondIsVerified(t *testing.T) {
	s := newSite(t)
	s.create(every(10), verified(2))
	first := s.awaitPod("save", 1)
	order := s.succeeds(first)
	b := s.awaitCount(1)
	if order.Save.Time.IsZero() || b.Status.NextDate == nil || b.Status.NextDate.Sub(order.Save.Time) != 10*time.Second || b.Status.Verified != nil {
		t.Errorf("expected the next backup 10 s after %s and no proof yet, got %+v", order.Save.Time, b.Status)
	}
	s.await("True Saved")
	env.Settled(t, env.Audit.Mark(t))
	operator.Until(t, "the second run begins", func() error {
		if now := s.get("db"); now.Status.Run.Due.Equal(&b.Status.Run.Due) {
			return errors.New("it is the first")
		}
		return nil
	})
	second := s.awaitPod("save", 1)
	if again := s.get("db"); !again.Status.Succeeded || again.Status.LastSuccessDate == nil {
		t.Errorf("expected the last success to stand while the next is made, got %+v", again.Status)
	}
	s.awaitOf("db", "Saved", "True Saved")
	late := s.succeeds(second)
	if late.Save.Time.Sub(order.Save.Time) != 10*time.Second {
		t.Errorf("expected the second run 10 s after %s, got %s", order.Save.Time, late.Save.Time)
	}
	proof := s.awaitPod("verify", 1)
	if proven := s.succeeds(proof); proven.Verify.Object != s.get("db").Status.Last.Object {
		t.Errorf("expected the second backup to be verified, got %+v", proven.Verify)
	}
	b = s.awaitCount(2)
	s.edit(suspended(true))
	s.awaitOf("db", "Verified", "True Restorable", b.Status.Last.Object)
	if b.Status.Verified == nil || b.Status.Verified.Object != b.Status.Last.Object {
		t.Errorf("expected the proof to be noted, got %+v", b.Status)
	}
	for _, pod := range s.pods() {
		if pod.Name == first.Name {
			t.Error("expected the pod of the first run to have gone")
		}
	}
	s.awaitPods(2)
}

func TestABackupThatCannotBeRestoredIsNoBackup(t *testing.T) {
	s := newSite(t)
	s.create(verified(1))
	s.succeeds(s.awaitPod("save", 1))
	s.await("False Running", "is being verified by pod")
	corrupt := backup.Result{Outcome: backup.Failed, Reason: backup.ReasonCorrupt, Message: "its hash is another"}
	for attempt := range 3 {
		s.ends(s.awaitPod("verify", attempt+1), time.Hour, corrupt)
	}
	s.await("False Corrupt", "Backup backups/db could not be restored: its hash is another")
	s.awaitOf("db", "Saved", "True Saved")
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}
