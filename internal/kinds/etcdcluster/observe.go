// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Observe reads the members' pods, claims and nodes, the certificates, and the prober's last view of etcd. It does not
// query etcd itself.
func (r *reconciler) Observe(ctx context.Context, c *etcdv1beta2.EtcdCluster) (facts, error) {
	key := client.ObjectKeyFromObject(c)
	f := facts{now: r.Clock.Now(), agentImage: r.AgentImage, operator: r.Namespace, backupImage: r.BackupImage, refused: r.refused.Of(key)}
	f.paused = c.Spec.Paused || common.IsSet(c.Annotations, common.PausedAnnotation)
	r.renew(key, c)
	if c.DeletionTimestamp != nil {
		r.prober.Forget(client.ObjectKeyFromObject(c))
		return f, nil
	}
	var err error
	if f.unsafe, err = unsafe(r.standards, c); err != nil {
		return f, err
	}
	for _, read := range []func(context.Context, *etcdv1beta2.EtcdCluster, *facts) error{
		r.observePods, r.observeVolumes, r.observeNodes, r.observeHomes, r.observeBackups, r.observeRestore, r.observeFormed, r.observeStore, r.confirmSeed,
	} {
		if err := read(ctx, c, &f); err != nil {
			return f, err
		}
	}
	return f, observeRights(ctx, r.Children, c, &f)
}

func (r *reconciler) observePods(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	pods, claims := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}
	for _, list := range []client.ObjectList{pods, claims} {
		if err := r.Client.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingLabels{common.OwnerLabel: string(c.UID)}); err != nil {
			return fmt.Errorf("list %T: %w", list, err)
		}
	}
	f.pods, f.claims, f.patched = map[string]*corev1.Pod{}, map[string]*corev1.PersistentVolumeClaim{}, map[string]bool{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		switch {
		case !metav1.IsControlledBy(pod, c):
			continue
		case model.LineageOf(c, pod.Name) != model.Current:
			f.others.Pods = append(f.others.Pods, pod)
		default:
			f.pods[pod.Name] = pod
		}
		f.patched[pod.Name] = r.Children.Behind(corev1.SchemeGroupVersion.WithKind("Pod"), pod)
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		switch {
		case !metav1.IsControlledBy(claim, c):
		case model.LineageOf(c, claim.Name) != model.Current:
			f.others.Claims = append(f.others.Claims, claim)
		default:
			f.claims[claim.Name] = claim
		}
	}
	return nil
}

func (r *reconciler) observeNodes(ctx context.Context, _ *etcdv1beta2.EtcdCluster, f *facts) error {
	f.nodes = map[string]model.Node{}
	for _, pod := range slices.Concat(slices.Collect(maps.Values(f.pods)), f.others.Pods) {
		if pod.Spec.NodeName == "" {
			continue
		}
		n := &corev1.Node{}
		err := r.Client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, n)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("read node: %w", err)
		default:
			f.nodes[n.Name] = model.NodeOf(n)
		}
	}
	return nil
}

// observeFormed reads the status from the API server before opcrew creates a pod. With a stale status, opcrew could
// create a first member without data although the cluster has formed meanwhile, or run old members beside a restored
// cluster.
func (r *reconciler) observeFormed(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	begins := c.Status.ClusterID == "" && !model.Restoring(c) && (!f.formation(c).AllCreated() || f.formation(c).StartsOver() || f.formation(c).Orphan() != "")
	if !begins && !f.comesBack(c) {
		return nil
	}
	return r.observeProgress(ctx, c, f)
}

// observeProgress reads the status from the API server and sets behind if the cached status is older.
func (r *reconciler) observeProgress(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	live := &etcdv1beta2.EtcdCluster{}
	found, err := r.taker().Found(ctx, client.ObjectKeyFromObject(c), live)
	if err != nil {
		return err
	}
	was, is := c.Status, live.Status
	f.behind = !found || live.UID != c.UID || is.ClusterID != was.ClusterID || model.PhaseOf(is.Restore) != model.PhaseOf(was.Restore)
	return nil
}

// comesBack reports whether a member has a claim but no pod, so that opcrew may be about to recreate the pod.
func (f facts) comesBack(c *etcdv1beta2.EtcdCluster) bool {
	if c.Status.ClusterID == "" || model.Hibernating(c) || f.paused {
		return false
	}
	for name := range f.claims {
		if f.pods[name] == nil {
			return true
		}
	}
	return false
}
