// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// orderAnnotation of the seed's pod is what is restored.
	orderAnnotation = "etcd.opcrew.io/order"
	// restorer is the container that makes the seed's data.
	restorer = "restore"
	// seedWishes are those that no one has: a pod that would read the backup again with every start of its
	// node is recreated, as any other, when the cluster can spare it.
	seedWishes = "seed "
)

// planRestore makes the seed, and touches nothing of the cluster but for members that come back by themselves.
func (f facts) planRestore(c *etcdv1beta2.EtcdCluster) kit.Plan {
	plan := kit.Plan{Again: underWay, Children: f.comeBack(c)}
	if f.isCalledOff(c) || f.needs != nil {
		return plan
	}
	plan.Children = append(plan.Children, ensure.Child{Object: peerService(c)}, ensure.Child{Object: connection(c)})
	m := f.seed(c)
	if persistent(c) {
		plan.Children = append(plan.Children, ensure.Child{Object: f.claim(c, m), Once: true})
	}
	if f.renewsSeed(c) {
		plan.Prune = []client.ObjectList{&corev1.PodList{}}
		plan.Stays = func(object client.Object) bool { return object.GetName() != m.name }
		return plan
	}
	if pod := f.seedPod(c, m); pod != nil && (m.pod == nil || m.pod.DeletionTimestamp == nil) {
		plan.Children = append(plan.Children, ensure.Child{Object: pod, Once: true})
	}
	return plan
}

// comeBack are pods that are gone, of members that still have their claims. It takes no look at the members, who are
// not asked meanwhile. What a recovery replaces has no quorum, and is left alone.
func (f facts) comeBack(c *etcdv1beta2.EtcdCluster) []ensure.Child {
	if c.Status.ClusterID == "" || c.Status.Restore.Recovery != nil {
		return nil
	}
	d := decision{members: f.members(c)}
	d.invalid = f.invalid(c, &d)
	var out []ensure.Child
	for _, m := range d.members {
		if m.pod == nil && f.wantsPod(c, d, m) {
			out = append(out, ensure.Child{Object: f.pod(c, m, d.members, f.versionFor(c, d)), Once: true})
		}
	}
	return out
}

// seedPod is a member's pod that makes its data of the backup before etcd starts; nil if what is asked for
// makes no sense.
func (f facts) seedPod(c *etcdv1beta2.EtcdCluster, m member) *corev1ac.PodApplyConfiguration {
	from := f.origin(c)
	order, err := backup.EncodeOrder(restoreOrder(c, *from, m))
	if err != nil {
		return nil
	}
	pod := f.pod(c, m, []member{m}, wanted(c))
	pod.WithAnnotations(map[string]string{orderAnnotation: order, wishesAnnotation: seedWishes + wishes(c)})
	mounts := from.mounts()
	pod.Spec.WithInitContainers(f.restorer(c, mounts))
	for _, mount := range mounts {
		pod.Spec.WithVolumes(mount.Volume)
	}
	return pod
}

// restorer has the resources of etcd itself, as the contract has it for all containers of a member: it runs
// before etcd does, and takes as much memory as the keys.
func (f facts) restorer(c *etcdv1beta2.EtcdCluster, mounts []backuppod.Mount) *corev1ac.ContainerApplyConfiguration {
	out := backuppod.Ordered(corev1ac.Container().WithName(restorer).
		WithImage(f.backupImage).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithSecurityContext(workload.Locked()), "restore", orderAnnotation)
	if c.Spec.Pod != nil {
		out.WithResources(podtemplate.Convert[*corev1ac.ResourceRequirementsApplyConfiguration](c.Spec.Pod.Resources))
	}
	backuppod.Mounted(out, append(mounts, backuppod.Mount{Name: dataVolume, Path: dataMount}))
	return out
}

// restoreOrder says what the seed's data is made of.
func restoreOrder(c *etcdv1beta2.EtcdCluster, from origin, m member) backup.Order {
	return backup.Order{
		ID: c.Status.Restore.UID + "/" + m.name, Target: from.place.Target,
		Restore: &backup.Restore{
			From: from.from, Object: from.object, DataDir: dataMount + "/data", Name: m.name, InitialCluster: m.name + "=" + c.PeerURL(m.name),
			Token: token(c), PeerURLs: []string{c.PeerURL(m.name)}, RevisionBump: from.bump, Above: c.Status.Restore.Above,
		},
	}
}

// restoreResult is what the container that restores has told last, nil for nothing.
func restoreResult(pod *corev1.Pod) *backup.Result {
	if pod == nil {
		return nil
	}
	for _, status := range pod.Status.InitContainerStatuses {
		for _, state := range []*corev1.ContainerStateTerminated{status.State.Terminated, status.LastTerminationState.Terminated} {
			if status.Name != restorer || state == nil {
				continue
			}
			if result, err := backup.ParseResult(state.Message); err == nil {
				return &result
			}
		}
	}
	return nil
}
