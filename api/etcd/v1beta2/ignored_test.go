// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestFieldsWithoutEffectAreNamed(t *testing.T) {
	keep := int64(7)
	for want, object := range map[string]interface{ Ignored() []string }{
		"": &EtcdCluster{Spec: EtcdClusterSpec{
			Pod:    &PodPolicy{AntiAffinity: true, ClusterDomain: ".a"},
			Upkeep: &Upkeep{KeepRevisions: &keep, NoSpace: NoSpaceHeal},
		}},
		"pod.DNSTimeoutInSecond, pod.antiAffinity (pod.affinity replaces it), pod.busyboxImage": &EtcdCluster{Spec: EtcdClusterSpec{
			Pod: &PodPolicy{DNSTimeoutInSecond: 7, AntiAffinity: true, Affinity: &corev1.Affinity{}, BusyboxImage: "busybox"},
		}},
		"upkeep.keepRevisions (has an effect only with upkeep.noSpace: Heal)": &EtcdCluster{Spec: EtcdClusterSpec{
			Upkeep: &Upkeep{KeepRevisions: &keep, NoSpace: NoSpaceReport},
		}},
		"gcs (the storage type is S3), pvc (the storage type is S3), backupPolicy.maxBackups (has an effect only with a schedule or an interval)": &EtcdBackup{Spec: EtcdBackupSpec{
			StorageType: StorageS3, Storage: Storage{S3: &S3Source{}, GCS: &GCSSource{}, PVC: &PVCSource{}}, BackupPolicy: &BackupPolicy{MaxBackups: 7},
		}},
		"s3 (the storage type is ABS)": &EtcdRestore{Spec: EtcdRestoreSpec{
			BackupStorageType: StorageABS, Storage: Storage{ABS: &ABSSource{}, S3: &S3Source{}},
		}},
	} {
		if got := strings.Join(object.Ignored(), ", "); got != want {
			t.Errorf("expected the ignored fields %q, got %q", want, got)
		}
	}
}
