// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// Ignored returns the names of the spec fields that the user set and that have no effect, with the reason for some.
func (c *EtcdCluster) Ignored() []string {
	var out []string
	if p := c.Spec.Pod; p != nil {
		if p.DNSTimeoutInSecond != 0 {
			out = append(out, "pod.DNSTimeoutInSecond")
		}
		if p.AntiAffinity && p.Affinity != nil {
			out = append(out, "pod.antiAffinity (pod.affinity replaces it)")
		}
		if p.BusyboxImage != "" {
			out = append(out, "pod.busyboxImage")
		}
	}
	if u := c.Spec.Upkeep; u != nil && u.KeepRevisions != nil && u.NoSpace == NoSpaceReport {
		out = append(out, "upkeep.keepRevisions (has an effect only with upkeep.noSpace: Heal)")
	}
	return out
}

// Ignored returns the names of the spec fields that the user set and that have no effect, with the reason.
func (b *EtcdBackup) Ignored() []string {
	out := b.Spec.ignored(b.Spec.StorageType)
	if p := b.Spec.BackupPolicy; p != nil && p.MaxBackups > 0 && p.BackupIntervalInSecond == 0 && p.Schedule == "" {
		out = append(out, "backupPolicy.maxBackups (has an effect only with a schedule or an interval)")
	}
	return out
}

// Ignored returns the names of the spec fields that the user set and that have no effect, with the reason.
func (r *EtcdRestore) Ignored() []string { return r.Spec.ignored(r.Spec.BackupStorageType) }

// ignored returns the names of the sections for other storage types than the one in the spec.
func (s Storage) ignored(asked StorageType) []string {
	var out []string
	for _, section := range []struct {
		of    StorageType
		name  string
		there bool
	}{
		{StorageABS, "abs", s.ABS != nil},
		{StorageGCS, "gcs", s.GCS != nil},
		{StorageOSS, "oss", s.OSS != nil},
		{StoragePVC, "pvc", s.PVC != nil},
		{StorageS3, "s3", s.S3 != nil},
	} {
		if section.there && section.of != asked {
			out = append(out, section.name+" (the storage type is "+string(asked)+")")
		}
	}
	return out
}
