// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

var errNotReady = errors.New("the EtcdBackup has not reached the expected state")

// made returns the command that builds a program in bin.
func (c *cluster) made(program string) *exec.Cmd {
	cmd := exec.Command("make", "bin/"+program)
	cmd.Dir = c.root
	return cmd
}

// newBackupTest creates an EtcdCluster of the given size and writes some data into it.
func newBackupTest(t *testing.T, size int) *etcdTest {
	t.Helper()
	e := newEtcdTest(t, etcd.V36)
	if err := etcdv1beta2.AddToScheme(e.Scheme()); err != nil {
		t.Fatal(err)
	}
	e.create(t, asked(size, etcd.V36))
	e.put(t, "foo", "bar")
	return e
}

// backUp creates an EtcdBackup for the test's EtcdCluster.
func (e *etcdTest) backUp(t *testing.T, name string, spec etcdv1beta2.EtcdBackupSpec) {
	t.Helper()
	if len(spec.EtcdEndpoints) == 0 {
		spec.EtcdCluster = &etcdv1beta2.ClusterReference{Name: articleEtcd}
	}
	b := &etcdv1beta2.EtcdBackup{Spec: spec}
	b.Namespace, b.Name = e.ns, name
	if err := e.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func inBucket(path, secret string) etcdv1beta2.EtcdBackupSpec {
	return etcdv1beta2.EtcdBackupSpec{StorageType: etcdv1beta2.StorageS3, Storage: etcdv1beta2.Storage{
		S3: &etcdv1beta2.S3Source{Path: path, AWSSecret: secret, Endpoint: fmt.Sprintf("http://s3:%d", s3Port), ForcePathStyle: true}}}
}

func onClaim(path string) etcdv1beta2.EtcdBackupSpec {
	return etcdv1beta2.EtcdBackupSpec{StorageType: etcdv1beta2.StoragePVC, Storage: etcdv1beta2.Storage{
		PVC: &etcdv1beta2.PVCSource{ClaimName: "backups", Path: path}}}
}

// backup waits until wanted returns true for an EtcdBackup, and returns the EtcdBackup.
func (e *etcdTest) backup(t *testing.T, name, what string, wanted func(*etcdv1beta2.EtcdBackup) bool) *etcdv1beta2.EtcdBackup {
	t.Helper()
	b := &etcdv1beta2.EtcdBackup{}
	eventually.True(t, 3*time.Minute, "backup "+name+" "+what, func() error {
		if err := e.Get(t.Context(), client.ObjectKey{Namespace: e.ns, Name: name}, b); err != nil {
			return err
		}
		if !wanted(b) {
			return fmt.Errorf("the status of the EtcdBackup is %+v", b.Status)
		}
		return nil
	})
	return b
}

// readySays returns a function that checks whether Ready has the given status and reason, and its message contains the
// words.
func readySays(status metav1.ConditionStatus, reason string, words ...string) func(*etcdv1beta2.EtcdBackup) bool {
	return func(b *etcdv1beta2.EtcdBackup) bool {
		c := meta.FindStatusCondition(b.Status.Conditions, etcdv1beta2.EtcdBackupReady)
		return c != nil && c.Status == status && c.Reason == reason && c.ObservedGeneration == b.Generation &&
			!slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(c.Message, w) })
	}
}

func TestSmokeAnEtcdBackupIsSavedToAClaimAndSeenToBeRestorable(t *testing.T) {
	e := newBackupTest(t, 1)
	e.wantClaim(t, "backups")
	spec := onClaim("example/etcd")
	spec.Verify = &etcdv1beta2.VerifyPolicy{Every: 1}
	e.backUp(t, "once", spec)
	b := e.backup(t, "once", "is restorable", func(b *etcdv1beta2.EtcdBackup) bool {
		return readySays(metav1.ConditionTrue, etcdv1beta2.ReasonSaved, "example/etcd")(b) && b.Status.Verified != nil
	})
	if s := b.Status; !s.Succeeded || s.EtcdVersion != etcd.V36 || s.EtcdRevision < 2 || s.Verified.Revision != s.EtcdRevision || s.Last.Size == 0 {
		t.Errorf("expected the status to tell of the backup, got %+v", s)
	}
	// Deleting the EtcdBackup and the EtcdCluster must not delete the backups.
	e.kubectl(t, "delete", "-n", e.ns, "etcdbackup/once", "--timeout=60s")
	e.remove(t)
	again := onClaim("example/etcd")
	again.EtcdEndpoints = []string{"http://" + articleEtcd + "-client:2379"}
	e.backUp(t, "of-nothing", again)
	e.backup(t, "of-nothing", "says that no member answers", readySays(metav1.ConditionFalse, etcdv1beta2.ReasonRetrying, articleEtcd+"-client:2379"))
}

func TestEtcdBackupsInABucketSayWhatIsWrongAndAreKeptByTheirNumber(t *testing.T) {
	e := newBackupTest(t, 3)
	e.backUp(t, "early", inBucket(bucket+"/early", "aws"))
	e.backup(t, "early", "names the missing Secret", readySays(metav1.ConditionFalse, etcdv1beta2.ReasonSecretMissing, "s3.awsSecret: there is no Secret aws"))
	e.wantS3(t)
	e.backup(t, "early", "is saved when the Secret is there", readySays(metav1.ConditionTrue, etcdv1beta2.ReasonSaved, bucket+"/early"))

	e.s3Secret(t, "wrong", "anothersecret")
	e.backUp(t, "denied", inBucket(bucket+"/denied", "wrong"))
	e.backUp(t, "nowhere", inBucket("elsewhere/nowhere", "aws"))
	periodic := inBucket(bucket+"/periodic", "aws")
	periodic.BackupPolicy = &etcdv1beta2.BackupPolicy{BackupIntervalInSecond: 10, MaxBackups: 2}
	e.backUp(t, "periodic", periodic)
	e.backup(t, "denied", "says that the Secret is wrong", readySays(metav1.ConditionFalse, "AccessDenied"))
	e.backup(t, "nowhere", "says that there is no bucket", readySays(metav1.ConditionFalse, "BucketMissing", "elsewhere"))
	e.backup(t, "periodic", "is saved for the fourth time", func(b *etcdv1beta2.EtcdBackup) bool { return b.Status.Count >= 4 })
	e.kubectl(t, "patch", "-n", e.ns, "etcdbackup/periodic", "--type=merge", "-p", `{"spec":{"suspend":true}}`)
	e.backup(t, "periodic", "is suspended", func(b *etcdv1beta2.EtcdBackup) bool {
		return b.Status.ObservedGeneration == b.Generation && b.Status.Run.Phase == etcdv1beta2.RunSucceeded
	})
	found := slices.DeleteFunc(e.objects(t), func(name string) bool { return !strings.HasPrefix(name, "periodic_v") })
	if len(found) != 2 {
		t.Errorf("expected the two newest backups to be kept, found %q", found)
	}
	if all := e.objects(t); slices.ContainsFunc(all, func(name string) bool { return strings.HasPrefix(name, "denied") }) {
		t.Errorf("expected nothing of what was denied, found %q", all)
	}
}
