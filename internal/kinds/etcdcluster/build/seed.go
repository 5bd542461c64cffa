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
	// OrderAnnotation holds the restore order on the seed's pod.
	OrderAnnotation = "etcd.opcrew.io/order"
	// Restorer is the container that makes the seed's data.
	Restorer = "restore"
	// SeedSettings match no spec, so that the seed's pod is recreated as an ordinary one once the cluster can spare it.
	// Otherwise it would read the backup again whenever its node restarts.
	SeedSettings = "seed "
)

// SeedPod declares the seed's pod, which makes its data before etcd starts; nil if the order is invalid.
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

// restorer returns the container that makes the data. It has etcd's resources, as it runs before etcd and needs as much
// memory.
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

// RestoreOrder returns the order by which the seed's data is restored.
func RestoreOrder(c *etcdv1beta2.EtcdCluster, from Origin, m model.Member) backup.Order {
	return backup.Order{
		ID: c.Status.Restore.UID + "/" + m.Name, Target: from.Place.Target,
		Restore: &backup.Restore{
			From: from.From, Object: from.Object, DataDir: dataMount + "/data", Name: m.Name, InitialCluster: m.Name + "=" + c.PeerURL(m.Name),
			Token: model.Token(c), PeerURLs: []string{c.PeerURL(m.Name)}, RevisionBump: from.Bump, Above: c.Status.Restore.Above,
		},
	}
}

// RestoreResult returns the last report of the restore container; nil if there is none.
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
