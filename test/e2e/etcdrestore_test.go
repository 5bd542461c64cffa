// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// restore creates an EtcdRestore that restores the test's cluster from a backup location.
func (e *etcdTest) restore(t *testing.T, kind etcdv1beta2.StorageType, from etcdv1beta2.Storage) {
	t.Helper()
	r := &etcdv1beta2.EtcdRestore{Spec: etcdv1beta2.EtcdRestoreSpec{BackupStorageType: kind, Storage: from}}
	r.Namespace, r.Name, r.Spec.EtcdCluster.Name = e.ns, articleEtcd, articleEtcd
	if err := e.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// restored waits until the condition Ready of the EtcdRestore has the given status and reason.
func (e *etcdTest) restored(t *testing.T, status metav1.ConditionStatus, reason string) *etcdv1beta2.EtcdRestore {
	t.Helper()
	r := &etcdv1beta2.EtcdRestore{}
	eventually.True(t, 3*time.Minute, fmt.Sprintf("the restore is %s %s", status, reason), func() error {
		if err := e.Get(t.Context(), client.ObjectKey{Namespace: e.ns, Name: articleEtcd}, r); err != nil {
			return err
		}
		c := meta.FindStatusCondition(r.Status.Conditions, etcdv1beta2.EtcdRestoreReady)
		if c == nil || c.Status != status || c.Reason != reason {
			return fmt.Errorf("the status of the EtcdRestore is %+v", r.Status)
		}
		return nil
	})
	return r
}

// dialServing connects to a member that the client Service selects.
func (e *etcdTest) dialServing(ctx context.Context) (net.Conn, error) {
	pods := &corev1.PodList{}
	if err := e.List(ctx, pods, client.InNamespace(e.ns), client.MatchingLabels{"etcd.opcrew.io/voter": "true"}); err != nil {
		return nil, err
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; p.DeletionTimestamp == nil && workload.Ready(p) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(p.Status.PodIP, "2379"))
		}
	}
	return nil, errors.New("the client Service selects no member")
}

// watcher watches the key foo from the next revision on. The channel receives the error with which the watch ends.
func (e *etcdTest) watcher(t *testing.T, revision int64) <-chan error {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://any"}, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return e.dialServing(ctx) })},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	go func() {
		for answer := range c.Watch(ctx, "foo", clientv3.WithRev(revision)) {
			if err := answer.Err(); err != nil {
				ended <- err
				return
			}
		}
		ended <- errors.New("the watch ended without an error")
	}()
	return ended
}

func TestARestoreOfAnEtcdClusterTakesTheBackupWhenThatServesAndWatchersListAgain(t *testing.T) {
	for storage, how := range storages() {
		t.Run(storage, func(t *testing.T) {
			e := newEtcdTest(t, etcd.V36)
			if err := etcdv1beta2.AddToScheme(e.Scheme()); err != nil {
				t.Fatal(err)
			}
			e.create(t, asked(3, etcd.V36, how))
			e.put(t, "foo", "saved")
			e.wantClaim(t, "backups")
			place := onClaim("example/etcd")
			e.backUp(t, "before", place)
			saved := e.backup(t, "before", "is saved", readySays(metav1.ConditionTrue, etcdv1beta2.ReasonSaved)).Status
			e.put(t, "foo", "later")
			watcher := e.watcher(t, saved.EtcdRevision+2)

			e.restore(t, place.StorageType, place.Storage)
			r := e.restored(t, metav1.ConditionTrue, etcdv1beta2.ReasonRestored)
			if !r.Status.Succeeded || r.Status.Revision <= saved.EtcdRevision+1 || r.Status.Object != saved.Last.Object {
				t.Errorf("expected the revision to be past all that anybody has seen, got %+v", r.Status)
			}
			e.await(t, 3, etcd.V36)
			e.wantValue(t, "foo", "saved")
			if err := <-watcher; !errors.Is(err, rpctypes.ErrCompacted) {
				t.Errorf("expected a watcher of the previous cluster to have to list again, got %v", err)
			}
			e.remove(t)
		})
	}
}

func TestARestoreThatFailsLeavesAnEtcdClusterAsItIs(t *testing.T) {
	e := newBackupTest(t, 3)
	e.wantClaim(t, "backups")
	place := onClaim("no/such")
	before := names(e.pods(t))
	e.during(t, "a restore that cannot be", false, func() {
		e.restore(t, place.StorageType, place.Storage)
		e.restored(t, metav1.ConditionFalse, "ObjectMissing")
		e.kubectl(t, "delete", "-n", e.ns, "etcdrestore/"+articleEtcd, "--timeout=60s")
		e.await(t, 3, etcd.V36)
	})
	eventually.True(t, time.Minute, "all objects of the restore are gone", func() error {
		if now := names(e.pods(t)); fmt.Sprint(now) != fmt.Sprint(before) {
			return fmt.Errorf("the members are %q and were %q", now, before)
		}
		return nil
	})
	e.wantValue(t, "foo", "bar")
}

func TestAnEtcdClusterThatHasLostAllOfItsDataComesBackFromABackup(t *testing.T) {
	e := newBackupTest(t, 3) // the members have emptyDir volumes
	e.wantClaim(t, "backups")
	place := onClaim("example/etcd")
	e.backUp(t, "before", place)
	e.backup(t, "before", "is saved", readySays(metav1.ConditionTrue, etcdv1beta2.ReasonSaved))
	for _, p := range e.pods(t) {
		e.kubectl(t, "delete", "pod", "-n", e.ns, p.Name, "--wait=false")
	}
	eventually.True(t, time.Minute, "the status reports that the quorum is lost permanently", func() error {
		if s, _ := e.status(t); s.Phase != etcdv1beta2.PhaseFailed {
			return fmt.Errorf("the phase of the EtcdCluster is %s", s.Phase)
		}
		return nil
	})
	e.restore(t, place.StorageType, place.Storage)
	e.restored(t, metav1.ConditionTrue, etcdv1beta2.ReasonRestored)
	e.await(t, 3, etcd.V36)
	e.wantValue(t, "foo", "bar")
}

func TestAnEtcdClusterInAnotherNamespaceBeginsWithABackup(t *testing.T) {
	e := newBackupTest(t, 1)
	e.wantS3(t)
	place := inBucket(bucket+"/moved", "aws")
	e.backUp(t, "before", place)
	e.backup(t, "before", "is saved", readySays(metav1.ConditionTrue, etcdv1beta2.ReasonSaved))

	there := newEtcdTest(t, etcd.V36)
	there.s3Secret(t, "aws", "secretkey")
	place.S3.Endpoint = fmt.Sprintf("http://s3.%s.svc:%d", e.ns, s3Port)
	there.restore(t, place.StorageType, place.Storage)
	there.restored(t, metav1.ConditionFalse, etcdv1beta2.ReasonClusterMissing)
	there.create(t, asked(3, etcd.V36))
	there.restored(t, metav1.ConditionTrue, etcdv1beta2.ReasonRestored)
	there.wantValue(t, "foo", "bar")
	e.wantValue(t, "foo", "bar")
}
