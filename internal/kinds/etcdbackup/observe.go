// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

type reconciler struct {
	*kit.Tools
	metrics *gauges
}

// facts are all that is read about a backup.
type facts struct {
	now   time.Time
	image string
	// pods are those that were made for it and are still there.
	pods []corev1.Pod
	// cluster is the EtcdCluster that is saved, nil if there is none or none is named.
	cluster *etcdv1beta2.EtcdCluster
	// obstacle, if any, keeps the next pod from being made.
	obstacle *obstacle
}

// obstacle is why something cannot be.
type obstacle struct{ reason, message string }

// Observe reads the pods, and, where one is to be made, whether what it needs is there.
func (r *reconciler) Observe(ctx context.Context, b *etcdv1beta2.EtcdBackup) (facts, error) {
	f := facts{now: r.Clock.Now(), image: r.BackupImage}
	if b.DeletionTimestamp != nil {
		return f, nil
	}
	list := &corev1.PodList{}
	if err := r.Client.List(ctx, list, client.InNamespace(b.Namespace), client.MatchingLabels{common.OwnerLabel: string(b.UID)}); err != nil {
		return f, fmt.Errorf("list pods: %w", err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], b) { // a label alone is anybody's
			f.pods = append(f.pods, list.Items[i])
		}
	}
	if judge(b, f, f.now).make == nil {
		return f, nil
	}
	var err error
	if f.cluster, f.obstacle, err = r.observeCluster(ctx, b); err != nil || f.obstacle != nil {
		return f, err
	}
	f.obstacle, err = r.observeNeeds(ctx, b, f)
	return f, err
}

// observeCluster reads the EtcdCluster that is named, which must have members.
func (r *reconciler) observeCluster(ctx context.Context, b *etcdv1beta2.EtcdBackup) (*etcdv1beta2.EtcdCluster, *obstacle, error) {
	if b.Spec.EtcdCluster == nil {
		return nil, nil, nil
	}
	name := b.Spec.EtcdCluster.Name
	cluster := &etcdv1beta2.EtcdCluster{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: name}, cluster)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &obstacle{etcdv1beta2.ReasonClusterMissing, "etcdCluster: there is no EtcdCluster " + name}, nil
	case err != nil:
		return nil, nil, fmt.Errorf("read EtcdCluster %s: %w", name, err)
	case len(endpoints(b, cluster)) == 0:
		return nil, &obstacle{etcdv1beta2.ReasonClusterNotReady, fmt.Sprintf("etcdCluster: EtcdCluster %s has no members yet", name)}, nil
	case cluster.Spec.Hibernate:
		return nil, &obstacle{etcdv1beta2.ReasonClusterNotReady, fmt.Sprintf("etcdCluster: EtcdCluster %s hibernates", name)}, nil
	}
	return cluster, nil, nil
}

// observeNeeds asks whether the Secrets and the claim are there that the pod mounts: it would hang
// without them. What is in them is for the pod alone.
func (r *reconciler) observeNeeds(ctx context.Context, b *etcdv1beta2.EtcdBackup, f facts) (*obstacle, error) {
	for _, need := range needs(b, f.cluster) {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(need.kind)
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: need.name}, object)
		switch {
		case apierrors.IsNotFound(err):
			return &obstacle{need.reason, fmt.Sprintf("%s: there is no %s %s", need.field, need.kind.Kind, need.name)}, nil
		case err != nil:
			return nil, fmt.Errorf("read %s %s: %w", need.kind.Kind, need.name, err)
		}
	}
	return nil, nil
}

// need is an object of the user's that a pod mounts.
type need struct {
	field, name, reason string
	kind                schema.GroupVersionKind
}

// needs are those of all pods.
func needs(b *etcdv1beta2.EtcdBackup, cluster *etcdv1beta2.EtcdCluster) []need {
	secrets, claims := corev1.SchemeGroupVersion.WithKind("Secret"), corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	var out []need
	if name := tlsSecret(b, cluster); name != "" {
		out = append(out, need{"clientTLSSecret", name, etcdv1beta2.ReasonSecretMissing, secrets})
	}
	if place := placeOf(b.Spec.StorageType, b.Spec.Storage); place.secret != "" {
		out = append(out, need{place.field, place.secret, etcdv1beta2.ReasonSecretMissing, secrets})
	}
	if b.Spec.StorageType == etcdv1beta2.StoragePVC {
		out = append(out, need{"pvc.claimName", b.Spec.PVC.ClaimName, etcdv1beta2.ReasonClaimMissing, claims})
	}
	return out
}
