// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backuppod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

func TestARestoreThatCannotBeginIsKnownBeforeItDoes(t *testing.T) {
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = "data", "aws"
	reader := fake.NewFakeClient(secret)
	for name, c := range map[string]struct {
		change func(*etcdv1beta2.EtcdRestore)
		want   string
	}{
		"all is there":           {func(*etcdv1beta2.EtcdRestore) {}, ": "},
		"a typo in the Secret":   {func(r *etcdv1beta2.EtcdRestore) { r.Spec.S3.AWSSecret = "awz" }, "SecretMissing: s3.awsSecret: there is no Secret awz"},
		"an object of none":      {func(r *etcdv1beta2.EtcdRestore) { r.Spec.Object = "others" }, `InvalidSpec: "others" is not a backup of the path "backups/example"`},
		"a path without a key":   {func(r *etcdv1beta2.EtcdRestore) { r.Spec.S3.Path = "backups" }, `InvalidSpec: the path "backups" is not bucket/key`},
		"a claim that is not":    {func(r *etcdv1beta2.EtcdRestore) { onClaim(r, "backups") }, "ClaimMissing: pvc.claimName: there is no PersistentVolumeClaim backups"},
		"the section of another": {func(r *etcdv1beta2.EtcdRestore) { r.Spec.BackupStorageType = etcdv1beta2.StorageGCS }, `InvalidSpec: "" is not a storage type; use S3, ABS, GCS, OSS or Folder`},
	} {
		r := &etcdv1beta2.EtcdRestore{}
		r.Namespace, r.Name = "data", "example"
		r.Spec.BackupStorageType, r.Spec.S3 = etcdv1beta2.StorageS3, &etcdv1beta2.S3Source{Path: "backups/example", AWSSecret: "aws"}
		c.change(r)
		reason, message, err := CannotBegin(t.Context(), reader, r)
		if got := reason + ": " + message; err != nil || got != c.want {
			t.Errorf("%s: expected\n%s, got\n%s, %v", name, c.want, got, err)
		}
	}
}

func onClaim(r *etcdv1beta2.EtcdRestore, name string) {
	r.Spec.BackupStorageType, r.Spec.PVC = etcdv1beta2.StoragePVC, &etcdv1beta2.PVCSource{ClaimName: name, Path: "example"}
}
