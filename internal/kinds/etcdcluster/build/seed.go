// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// OrderAnnotation holds, on the pod of a restore's first member, the order to restore the data.
	OrderAnnotation = "etcd.opcrew.io/order"
	// Restorer is the name of the init container that restores the data.
	Restorer = "restore"
	// SeedSettings is a prefix of the settings that are recorded on the pod of the seed, the first member of a restored
	// cluster. Because of this prefix the recorded settings match no spec, so opcrew later recreates the pod as an
	// ordinary one. Otherwise the pod would restore the backup again after each restart of its node.
	SeedSettings = "seed "
)

// SeedPod declares the pod of the seed, the first member of the restored cluster. An init container restores the data
// before etcd starts. SeedPod returns nil if the order to restore is invalid.
func (b Builder) SeedPod(from Origin, m model.Member) *corev1ac.PodApplyConfiguration {
	order, err := backup.EncodeOrder(RestoreOrder(b.Cluster, from, m))
	if err != nil {
		return nil
	}
	pod := b.Pod(m, []model.Member{m}, versions.Desired(b.Cluster))
	pod.WithAnnotations(map[string]string{OrderAnnotation: order, model.SettingsAnnotation: SeedSettings + settings.Hash(b.Cluster)})
	mounts := from.mounts()
	pod.Spec.WithInitContainers(b.restorer(mounts))
	for _, mount := range mounts {
		pod.Spec.WithVolumes(mount.Volume)
	}
	return pod
}

// restorer returns the init container that restores the data. It gets etcd's resources, as it runs before etcd and
// needs as much memory.
func (b Builder) restorer(mounts []backuppod.Mount) *corev1ac.ContainerApplyConfiguration {
	out := backuppod.WithOrder(corev1ac.Container().WithName(Restorer).
		WithImage(b.BackupImage).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithSecurityContext(workload.Restricted()), "restore", OrderAnnotation)
	if policy := b.Cluster.Spec.Pod; policy != nil {
		out.WithResources(podtemplate.Convert[*corev1ac.ResourceRequirementsApplyConfiguration](policy.Resources))
	}
	backuppod.WithMounts(out, append(mounts, backuppod.Mount{Name: dataVolume, Path: dataMount}))
	return out
}

// RestoreOrder returns the order for the restore container: what to restore, from which place, and for which cluster
// and member.
func RestoreOrder(c *etcdv1beta2.EtcdCluster, from Origin, m model.Member) backup.Order {
	return backup.Order{
		ID: c.Status.Restore.UID + "/" + m.Name, Target: from.Place.Target,
		Restore: &backup.Restore{
			From: from.From, Object: from.Object, DataDir: dataMount + "/data", Name: m.Name, InitialCluster: m.Name + "=" + c.PeerURL(m.Name),
			Token: model.Token(c), PeerURLs: []string{c.PeerURL(m.Name)}, RevisionBump: from.Bump, Above: c.Status.Restore.Above,
		},
	}
}

// RestoreResult returns the last result that the restore container reported; nil if there is none.
func RestoreResult(pod *corev1.Pod) *backup.Result {
	if pod == nil {
		return nil
	}
	for _, status := range pod.Status.InitContainerStatuses {
		for _, state := range []*corev1.ContainerStateTerminated{status.State.Terminated, status.LastTerminationState.Terminated} {
			if status.Name != Restorer || state == nil {
				continue
			}
			if result, err := backup.ParseResult(state.Message); err == nil {
				return &result
			}
		}
	}
	return nil
}
