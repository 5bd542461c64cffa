// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const day = 86400

// failing creates a daily EtcdBackup whose first run fails with the given result.
func (s *site) failing(result backup.Result) *etcdv1beta2.EtcdBackup {
	s.Helper()
	s.create(every(day))
	for attempt := range 3 {
		s.ends(s.awaitPod("save", attempt+1), time.Hour, result)
	}
	return s.await("False " + string(result.Reason))
}

// awaitRunAfter waits until another run has started.
func (s *site) awaitRunAfter(b *etcdv1beta2.EtcdBackup) *etcdv1beta2.EtcdBackup {
	s.Helper()
	operator.Until(s.T, "another run is begun", func() error {
		if s.get("db").Status.Run.Due.Equal(&b.Status.Run.Due) {
			return errors.New("it is the one that failed")
		}
		return nil
	})
	return s.get("db")
}

func TestARunThatFailedIsMadeAgainBeforeTheNextTimeOfTheSchedule(t *testing.T) {
	s := newSite(t)
	b := s.failing(away)
	if wait := b.Status.NextDate.Sub(b.Status.Run.Ended.Time); wait != time.Minute {
		t.Errorf("expected the next run a minute after the one that failed, got %s", wait)
	}
	env.Settled(t, env.Audit.Mark(t))
	s.operator.Stop()
	before := b.DeepCopy()
	// Set the end of the failed run to almost a minute ago, so that the retry is about to start.
	ended := metav1.NewTime(b.Status.Run.Due.Add(time.Second - time.Minute))
	b.Status.Run.Ended = &ended
	if err := env.Client.Status().Patch(t.Context(), b, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	s.operator.Start()
	again := s.awaitRunAfter(b)
	if run := again.Status.Run; !run.Due.Time.Equal(ended.Add(time.Minute)) || run.Failures != 1 {
		t.Errorf("expected the run to be made again as of a minute after it failed, got %+v", run)
	}
	s.succeeds(s.awaitPod("save", 1))
	if done := s.await("True Saved"); done.Status.Run.Failures != 0 || done.Status.NextDate.Sub(done.CreationTimestamp.Time) != day*time.Second {
		t.Errorf("expected the next run at the time of the schedule, and nothing of failures, got %+v", done.Status)
	}
}

func TestARunThatFailedByConfigurationIsMadeAgainWhenThatIsEdited(t *testing.T) {
	s := newSite(t)
	b := s.failing(backup.Result{Outcome: backup.Failed, Reason: backup.ReasonBucketMissing, Message: "S3 bucket backups does not exist"})
	if next := b.Status.NextDate.Sub(b.CreationTimestamp.Time); next != day*time.Second {
		t.Errorf("expected no run before the next time of the schedule, the next is %s after the first", next)
	}
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	s.edit(withPath("elsewhere/db"))
	s.awaitRunAfter(b)
	if order := s.succeeds(s.awaitPod("save", 1)); order.Target.Path != "elsewhere/db" {
		t.Errorf("expected the order of the new spec, got %+v", order)
	}
	s.await("True Saved")
}
