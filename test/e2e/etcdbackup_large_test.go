// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const gibibyte = 1 << 30

// load writes the given number of random bytes to etcd. Random bytes cannot be compressed.
func (e *etcdTest) load(t *testing.T, bytes int) {
	t.Helper()
	value := make([]byte, 1<<20)
	for n := range bytes / len(value) {
		_, _ = rand.Read(value)
		eventually.True(t, time.Minute, fmt.Sprintf("MiB %d is written", n), func() error {
			return e.ask(t, e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
				_, err := c.Put(ctx, fmt.Sprint("fill/", n), string(value))
				return err
			})
		})
	}
}

// small returns the spec with a memory limit of 64 MiB for the pod that makes the backup.
func small(spec etcdv1beta2.EtcdBackupSpec) etcdv1beta2.EtcdBackupSpec {
	limit := map[corev1.ResourceName]common.Amount{corev1.ResourceMemory: "64Mi"}
	spec.Pod = &etcdv1beta2.WorkerPolicy{Resources: &common.Resources{Limits: limit, Requests: limit}}
	spec.BackupPolicy = &etcdv1beta2.BackupPolicy{TimeoutInSecond: 600}
	return spec
}

// worker waits until the pod that saves a backup runs, and returns this pod.
func (e *etcdTest) worker(t *testing.T, backup string) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	eventually.True(t, time.Minute, "a pod of backup "+backup+" runs", func() error {
		pods := &corev1.PodList{}
		if err := e.List(t.Context(), pods, client.InNamespace(e.ns)); err != nil {
			return err
		}
		for i := range pods.Items {
			if p := &pods.Items[i]; strings.HasPrefix(p.Name, backup+"-") && p.Status.Phase == corev1.PodRunning {
				found = p
				return nil
			}
		}
		return errNotReady
	})
	return found
}

func TestAGibibyteOfAnEtcdClusterIsBackedUpWithin64MiBThoughServersFail(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	if err := etcdv1beta2.AddToScheme(e.Scheme()); err != nil {
		t.Fatal(err)
	}
	e.create(t, asked(3, etcd.V36))
	e.wantS3(t)
	e.load(t, gibibyte)

	begun := time.Now()
	e.backUp(t, "quiet", small(inBucket(bucket+"/quiet", "aws")))
	saved := func(b *etcdv1beta2.EtcdBackup) bool {
		return readySays(metav1.ConditionTrue, etcdv1beta2.ReasonSaved)(b) && b.Status.Last.Size > gibibyte
	}
	e.backup(t, "quiet", "is saved", saved)
	t.Logf("saved in %s", time.Since(begun).Round(100*time.Millisecond))

	e.backUp(t, "storeless", small(inBucket(bucket+"/storeless", "aws")))
	e.worker(t, "storeless")
	e.kubectl(t, "delete", "pod", "-n", e.ns, "s3", "--now")
	e.backup(t, "storeless", "says that the store is gone", readySays(metav1.ConditionFalse, etcdv1beta2.ReasonRetrying))
	e.startS3(t)
	e.backup(t, "storeless", "is saved when the store is back", saved)

	e.backUp(t, "memberless", small(inBucket(bucket+"/memberless", "aws")))
	e.worker(t, "memberless")
	// The backup reads from the first member that is not the leader, so it reads from one of the first two members.
	for _, pod := range e.pods(t)[:2] {
		e.toEtcd(t, pod, "kill -KILL $etcd")
	}
	e.backup(t, "memberless", "is saved though members die", saved)
}
