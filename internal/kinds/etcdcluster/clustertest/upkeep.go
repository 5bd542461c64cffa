// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Upkeep returns an option that edits spec.upkeep.
func Upkeep(edit func(*etcdv1beta2.Upkeep)) Option {
	return func(c *etcdv1beta2.EtcdCluster) {
		if c.Spec.Upkeep == nil {
			c.Spec.Upkeep = &etcdv1beta2.Upkeep{}
		}
		edit(c.Spec.Upkeep)
	}
}

func Defragments(schedule string) Option {
	return Upkeep(func(u *etcdv1beta2.Upkeep) { u.Defragment = &etcdv1beta2.Defragment{Schedule: schedule} })
}

func InZone(zone string) Option {
	return Upkeep(func(u *etcdv1beta2.Upkeep) { u.Defragment.TimeZone = zone })
}

func Compacts(mode, retention string) Option {
	return Upkeep(func(u *etcdv1beta2.Upkeep) {
		u.Compaction = &etcdv1beta2.Compaction{Mode: mode, Retention: retention}
	})
}

func ReportsNoSpace(u *etcdv1beta2.Upkeep) { u.NoSpace = etcdv1beta2.NoSpaceReport }

func KeepNone(u *etcdv1beta2.Upkeep) { u.KeepRevisions = new(int64) }

func KeepMany(u *etcdv1beta2.Upkeep) { many := int64(9000); u.KeepRevisions = &many }

func QuotaElsewhere(c *etcdv1beta2.EtcdCluster) {
	PodPolicy(c).EtcdEnv = []etcdv1beta2.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", ValueFrom: &corev1.EnvVarSource{}}}
}
