// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestThePodsOfABackup(t *testing.T) {
	const running, verifying = etcdv1beta2.RunRunning, etcdv1beta2.RunVerifying
	for name, test := range map[string]struct {
		backup  *etcdv1beta2.EtcdBackup
		cluster *etcdv1beta2.EtcdCluster
	}{
		"save-once":              {backuptest.New(backuptest.InRun(running, 0)), nil},
		"save-of-cluster":        {backuptest.New(backuptest.InRun(running, 0), backuptest.Every(3600), ofCluster, intoClaim), newCluster()},
		"save-with-pod-settings": {backuptest.New(backuptest.InRun(running, 0), backuptest.Every(3600), withPodSettings), nil},
		"verify-bucket":          {backuptest.New(backuptest.InRun(verifying, 0), backuptest.HasSaved), nil},
		"verify-claim":           {backuptest.New(backuptest.InRun(verifying, 0), backuptest.HasSaved, intoClaim), nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts{now: backuptest.Noon, image: "opcrew-backup:test", cluster: test.cluster}
			children := child(test.backup, f.image, f.cluster, *judge(test.backup, f.attempts()).make)
			if len(children) != 1 {
				t.Fatalf("expected one pod, got %d", len(children))
			}
			golden.Check(t, name+".yaml", children[0].Object)
		})
	}
}

func ofCluster(b *etcdv1beta2.EtcdBackup) {
	b.Spec.EtcdEndpoints, b.Spec.EtcdCluster = nil, &etcdv1beta2.ClusterReference{Name: "example"}
}

func intoClaim(b *etcdv1beta2.EtcdBackup) {
	b.Spec.StorageType, b.Spec.S3 = etcdv1beta2.StoragePVC, nil
	b.Spec.PVC = &etcdv1beta2.PVCSource{ClaimName: "backups", Path: "backups/example"}
}

func withPodSettings(b *etcdv1beta2.EtcdBackup) {
	b.Spec.ClientTLSSecret = "etcd-client-tls"
	b.Spec.S3.Endpoint, b.Spec.S3.ForcePathStyle, b.Spec.S3.AWSSecret = "http://minio:9000", true, ""
	b.Spec.BackupPolicy.TimeoutInSecond = 600
	b.Spec.Pod = &etcdv1beta2.WorkerPolicy{
		ServiceAccountName: "backups", NodeSelector: map[string]string{"disk": "fast"},
		Resources:        &common.Resources{Limits: map[corev1.ResourceName]common.Amount{"memory": "1Gi"}},
		Tolerations:      []corev1.Toleration{{Key: "backups", Operator: corev1.TolerationOpExists}},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
	}
}

// newCluster returns an EtcdCluster with two voters, a learner, and TLS.
func newCluster() *etcdv1beta2.EtcdCluster {
	c := &etcdv1beta2.EtcdCluster{}
	c.Namespace, c.Name = "data", "example"
	c.Spec.TLS = &etcdv1beta2.TLSPolicy{Static: &etcdv1beta2.StaticTLS{
		OperatorSecret: "operator-tls", Member: &etcdv1beta2.MemberSecret{ServerSecret: "server-tls"}}}
	c.Status.Membership = []etcdv1beta2.MemberIdentity{{ID: "1", Name: "example-a"}, {ID: "2", Name: "example-b"}, {ID: "3", Name: "example-c", Learner: true}}
	return c
}

func TestTheDefaultAccountGivesABackupNoToken(t *testing.T) {
	for account, want := range map[string]bool{"": false, "default": false, "backups": true} {
		b := backuptest.New()
		b.Spec.Pod = &etcdv1beta2.WorkerPolicy{ServiceAccountName: account}
		if got := *pod(b, "backup:1", nil, work{task: save}, "").Spec.AutomountServiceAccountToken; got != want {
			t.Errorf("account %q: expected a token: %t, got %t", account, want, got)
		}
	}
}
