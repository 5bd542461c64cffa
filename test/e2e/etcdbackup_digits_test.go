// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// The CoreOS operator sorted backups by name as text, so it deleted revision 10 before revision 9.
func TestEtcdBackupsAreKeptByTheirNumberWhereRevisionsGainADigit(t *testing.T) {
	e := newBackupTest(t, 1)
	e.wantClaim(t, "backups")
	e.wantS3(t)
	e.listClaim(t, "backups")
	policy := &etcdv1beta2.BackupPolicy{BackupIntervalInSecond: 10, MaxBackups: 2}
	inS3, inClaim := inBucket(bucket+"/digits", "aws"), onClaim("digits")
	inS3.BackupPolicy, inClaim.BackupPolicy = policy, policy
	e.reach(t, 9)
	e.backUp(t, "in-s3", inS3)
	e.backUp(t, "in-claim", inClaim)
	before := int64(0)
	for _, revision := range []int64{9, 10, 99, 100} {
		e.reach(t, revision)
		for _, name := range []string{"in-s3", "in-claim"} {
			e.backup(t, name, fmt.Sprint("has revision ", revision), func(b *etcdv1beta2.EtcdBackup) bool {
				return b.Status.EtcdRevision == revision && b.Status.Run.Phase == etcdv1beta2.RunSucceeded
			})
		}
		for where, list := range map[string]func(*testing.T) []string{"the bucket": e.objects, "the claim": e.inClaim} {
			wantKept(t, where, before, revision, func() []string { return list(t) })
		}
		before = revision
	}
}

// reach writes until the cluster has reached the given revision.
func (e *etcdTest) reach(t *testing.T, revision int64) {
	t.Helper()
	err := e.ask(t, e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
		for {
			r, err := c.Get(ctx, "foo")
			if err != nil || r.Header.Revision >= revision {
				return err
			}
			if _, err := c.Put(ctx, "foo", strconv.FormatInt(r.Header.Revision, 10)); err != nil {
				return err
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantKept waits until exactly the two latest backups are kept. before and revision are the etcd revisions of these
// backups.
func wantKept(t *testing.T, where string, before, revision int64, list func() []string) {
	t.Helper()
	eventually.True(t, 30*time.Second, fmt.Sprintf("in %s the backups of revisions %d and %d are kept", where, before, revision), func() error {
		var found []int64
		newest := false
		for _, name := range list() {
			number, _, _ := strings.Cut(strings.TrimPrefix(name, "digits_v"), "_")
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil || n < before {
				return fmt.Errorf("backup %q still exists", name)
			}
			found, newest = append(found, n), newest || n == revision
		}
		if !newest || len(found) > 2 {
			return fmt.Errorf("the backups of revisions %v exist", found)
		}
		return nil
	})
}

// listClaim starts a pod in which a test can list the files of a claim.
func (e *etcdTest) listClaim(t *testing.T, claim string) {
	t.Helper()
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(0)),
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}},
		Containers: []corev1.Container{{
			Name: "shell", Image: "busybox:1.35", Command: []string{"sleep", "86400"},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
		}},
	}}
	pod.Namespace, pod.Name = e.ns, "looks"
	if err := e.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	e.kubectl(t, "wait", "-n", e.ns, "--for=condition=Ready", "pod/looks", "--timeout=60s")
}

// inClaim returns the backup files in the claim, without the files that describe the backups.
func (e *etcdTest) inClaim(t *testing.T) []string {
	t.Helper()
	var found []string
	for path := range strings.FieldsSeq(e.kubectl(t, "exec", "-n", e.ns, "looks", "--", "find", "/data", "-type", "f")) {
		name := path[strings.LastIndex(path, "/")+1:]
		if strings.HasPrefix(name, "digits_v") && !strings.HasSuffix(name, ".meta.json") {
			found = append(found, name)
		}
	}
	return found
}
