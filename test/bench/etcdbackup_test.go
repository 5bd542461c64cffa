// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/backuppods"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// A backup run costs one write for its pod and two for the status, at the start and the end. From the second run on, it
// also costs a write that deletes the previous pod.
const (
	writesFirstRun  = 3
	writesALaterRun = 4
)

// The pods are simulated without etcd and without a store, because the test only counts the operator's requests.
func TestABackupCostsThreeWritesAndNothingUntilTheNextIsDue(t *testing.T) {
	hosts := env.Nodes(t, 3+*objects/50, testenv.NodeSpec{Prefix: "savers"}) // a node can run 110 pods
	backuppods.Follow(t, env.Config, env.Client, func(o backup.Order, _ int) *backup.Result {
		result := backuppods.Success(o)
		return &result
	})
	tb := newTable("EtcdBackup: %d objects of a schedule", *objects)
	for _, d := range driversOf("etcdbackup") {
		namespaces := someNamespaces(t, 1)
		run := &saverRun{process: d.start(t, "etcdbackup", namespaces...), t: t, tb: tb, hosts: hosts, namespaces: namespaces}
		run.drive()
	}
	tb.print()
}

// saverRun is a benchmark run of an operator with EtcdBackups.
type saverRun struct {
	*process
	t          *testing.T
	tb         *table
	hosts      []string
	namespaces []string
}

// saver returns an EtcdBackup that runs at once, and then once a year.
func (r *saverRun) saver(i int) *etcdv1beta2.EtcdBackup {
	b := &etcdv1beta2.EtcdBackup{Spec: etcdv1beta2.EtcdBackupSpec{
		EtcdEndpoints: []string{"http://db-client:2379"}, StorageType: etcdv1beta2.StorageS3,
		BackupPolicy: &etcdv1beta2.BackupPolicy{BackupIntervalInSecond: 31536000, MaxBackups: 3},
	}}
	b.Namespace, b.Name = r.namespaces[0], fmt.Sprintf("b%04d", i)
	b.Spec.S3 = &etcdv1beta2.S3Source{Path: "backups/" + b.Name}
	return b
}

func (r *saverRun) drive() {
	r.calm(r.t, time.Second)
	empty := r.heap(r.t)
	r.save("the first run of each", writesFirstRun, 1, func(ctx context.Context, i int) error { return env.Client.Create(ctx, r.saver(i)) })
	r.resting(r.t, r.tb, "a heartbeat of every node", true, func() { env.Heartbeat(r.t, r.hosts...) })
	r.resting(r.t, r.tb, "other statuses of every pod change", false, func() { podNoise(r.t, r.namespaces) })
	due := nextMinute()
	r.save("another run of each", writesALaterRun, 2, func(ctx context.Context, i int) error {
		patch := mergePatch(`{"spec":{"backupPolicy":{"backupIntervalInSecond":null,"schedule":"%d %d * * *"}}}`, due.Minute(), due.Hour())
		return env.Client.Patch(ctx, r.saver(i), patch)
	})
	heap := r.heap(r.t)
	now, peak := r.resident(r.t)
	r.tb.set("heap; resident, at most", r.name, "%.0f MiB; %.0f MiB, %.0f MiB", heap, now, peak)
	r.tb.set("heap an object", r.name, "%.0f KiB", (heap-empty)*1024/float64(*objects))
	r.restarted(r.t, r.tb)
	r.deleteAll()
	r.stop(r.t)
}

// nextMinute waits until the next minute begins, and returns its start. A daily schedule set to this time is due at
// once: backups that this test took earlier are from before this time, so they do not satisfy the schedule.
func nextMinute() time.Time {
	next := time.Now().UTC().Truncate(time.Minute).Add(time.Minute)
	time.Sleep(time.Until(next) + time.Second)
	return next
}

// save makes all EtcdBackups run once more, and counts the measured operator's requests.
func (r *saverRun) save(row string, writes int, count int64, begin func(context.Context, int) error) {
	saved := observe(r.t, &etcdv1beta2.EtcdBackupList{}, func(object client.Object) bool {
		return isReady(object) && object.(*etcdv1beta2.EtcdBackup).Status.Count == count
	}, r.namespaces...)
	defer saved.stop()
	begun, took, ok := time.Now(), time.Duration(0), false
	got := r.during(r.t, func() {
		concurrently(r.t, *objects, begin)
		var end time.Time
		end, ok = saved.done(*objects)
		took = end.Sub(begun)
		r.calm(r.t, 2*time.Second)
	})
	each := func(n int) float64 { return float64(n) / float64(*objects) }
	r.tb.set(row+": time", r.name, "%.1f s", took.Seconds())
	r.tb.set(row+": writes an object", r.name, "%.2f", each(got.writes()))
	r.tb.set(row+": reads, reconciles an object; processor time", r.name, "%.1f, %.1f; %.1f s", each(got.reads()), each(got.reconciles), got.cpu.Seconds())
	if r.gated() && (!ok || got.writes() != writes**objects) {
		_, n := saved.count()
		r.t.Errorf("%s: expected %d writes an object, got %d for %d, %d of which are saved: %v", row, writes, got.writes(), *objects, n, got.calls.Tally())
	}
}

// deleteAll deletes all EtcdBackups and counts the measured operator's requests. Kubernetes garbage-collects the pods.
func (r *saverRun) deleteAll() {
	got := r.during(r.t, func() {
		concurrently(r.t, *objects, func(ctx context.Context, i int) error { return env.Client.Delete(ctx, r.saver(i)) })
		eventually.True(r.t, *limit, "all EtcdBackups are gone", func() error {
			left := &etcdv1beta2.EtcdBackupList{}
			if err := env.Client.List(r.t.Context(), left, client.InNamespace(r.namespaces[0])); err != nil || len(left.Items) > 0 {
				return fmt.Errorf("%d are left: %w", len(left.Items), err)
			}
			return nil
		})
		r.calm(r.t, time.Second)
	})
	r.tb.set("all are deleted: writes an object", r.name, "%.2f", float64(got.writes())/float64(*objects))
	if r.gated() && got.writes() > 0 {
		r.t.Errorf("expected no write when objects are deleted, got %v", got.calls.Tally())
	}
}
