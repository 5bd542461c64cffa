// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
)

// Upkeep returns spec.upkeep, or an empty Upkeep if it is not set.
func Upkeep(c *etcdv1beta2.EtcdCluster) *etcdv1beta2.Upkeep {
	if c.Spec.Upkeep == nil {
		return &etcdv1beta2.Upkeep{}
	}
	return c.Spec.Upkeep
}

// PodUpkeep holds the settings of spec.upkeep that are passed to pods as environment variables.
type PodUpkeep struct {
	Compaction      *etcdv1beta2.Compaction `json:",omitempty"`
	CorruptionCheck string                  `json:",omitempty"`
	// Experimental is true for versions before 3.6, where the variable of the corruption check has an experimental
	// name. etcd 3.6 does not start if both names are set.
	Experimental bool `json:",omitempty"`
}

// ForPods returns the settings of spec.upkeep for pods. It returns nil if the spec has none or the etcd version does
// not support them, so that pods created without them count as up to date.
func ForPods(c *etcdv1beta2.EtcdCluster) *PodUpkeep {
	u := Upkeep(c)
	if u.Compaction == nil && u.CorruptionCheck == "" || !versions.HasMetricsListener(versions.Desired(c)) {
		return nil
	}
	return &PodUpkeep{u.Compaction, u.CorruptionCheck, u.CorruptionCheck != "" && versions.Older(versions.Desired(c), "3.6.0")}
}

// Environment returns these settings as environment variables, not as flags. opcrew changes the version of etcd without
// recreating the pod. etcd exits on a flag that its version does not know, but only warns of an unknown variable.
func (u *PodUpkeep) Environment() []*corev1ac.EnvVarApplyConfiguration {
	var out []*corev1ac.EnvVarApplyConfiguration
	say := func(name, value string) {
		out = append(out, corev1ac.EnvVar().WithName(name).WithValue(value))
	}
	if u == nil {
		return nil
	}
	if u.Compaction != nil {
		mode := map[string]string{etcdv1beta2.CompactionPeriodic: "periodic", etcdv1beta2.CompactionRevision: "revision"}
		say("ETCD_AUTO_COMPACTION_MODE", mode[u.Compaction.Mode])
		say("ETCD_AUTO_COMPACTION_RETENTION", u.Compaction.Retention)
	}
	switch {
	case u.Experimental:
		say("ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME", u.CorruptionCheck)
	case u.CorruptionCheck != "":
		say("ETCD_CORRUPT_CHECK_TIME", u.CorruptionCheck)
	}
	return out
}
