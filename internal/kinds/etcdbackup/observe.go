// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/kit"
)

type reconciler struct {
	*kit.Tools
	metrics *gauges
}

// facts holds everything that is read about an EtcdBackup in one reconcile.
type facts struct {
	now   time.Time
	image string
	// behind is true if the cached EtcdBackup has an older status.run than the API server.
	behind bool
	// pods are the existing pods of the current task (save or verify) of the current run.
	pods []corev1.Pod
	// cluster is the EtcdCluster to back up; nil if the spec names none or it does not exist.
	cluster *etcdv1beta2.EtcdCluster
	// obstacle is what prevents the creation of the next pod; nil if nothing prevents it.
	obstacle *obstacle
}

func (f facts) attempts() attempts { return attempts{now: f.now, pods: f.pods} }

// obstacle is the reason and the message for a pod that cannot be created.
type obstacle struct{ reason, message string }

// Observe reads the pods of the current run of an EtcdBackup. If a pod is about to be created, it also checks that the
// cluster, Secrets and claim that the pod needs exist.
func (r *reconciler) Observe(ctx context.Context, b *etcdv1beta2.EtcdBackup) (facts, error) {
	f := facts{now: r.Clock.Now(), image: r.BackupImage}
	if b.DeletionTimestamp != nil {
		return f, nil
	}
	var err error
	if f.pods, err = r.podsOf(ctx, b); err != nil || judge(b, f.attempts()).make == nil {
		return f, err
	}
	if f.behind, err = r.isBehind(ctx, b); err != nil || f.behind {
		return f, err
	}
	if f.cluster, f.obstacle, err = r.observeCluster(ctx, b); err != nil || f.obstacle != nil {
		return f, err
	}
	f.obstacle, err = r.observeNeeds(ctx, b, f.cluster)
	return f, err
}

// podsOf reads the existing pods of the current task (save or verify) of the current run.
func (r *reconciler) podsOf(ctx context.Context, b *etcdv1beta2.EtcdBackup) ([]corev1.Pod, error) {
	t, ok := atWork(b)
	if !ok {
		return nil, nil
	}
	var out []corev1.Pod
	for _, w := range worksOf(b, t) {
		pod := corev1.Pod{}
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: w.podName(b)}, &pod)
		switch {
		case client.IgnoreNotFound(err) != nil:
			return nil, fmt.Errorf("read pod: %w", err)
		case err == nil && metav1.IsControlledBy(&pod, b):
			out = append(out, pod)
		}
	}
	return out, nil
}

// isBehind reports whether status.run in the cache differs from the API server's. If the run has ended and its pods are
// already deleted, a stale cache would make opcrew start the same run again.
func (r *reconciler) isBehind(ctx context.Context, b *etcdv1beta2.EtcdBackup) (bool, error) {
	live := &etcdv1beta2.EtcdBackup{}
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(b), live)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read the EtcdBackup from the API server: %w", err)
	}
	return live.UID != b.UID || !equality.Semantic.DeepEqual(live.Status.Run, b.Status.Run), nil
}

// observeCluster reads the EtcdCluster that the spec names. It returns an obstacle if the cluster is missing, has no
// members or hibernates.
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

// observeNeeds returns an obstacle if a Secret or the claim that the pod mounts is missing, because the pod could not
// start.
func (r *reconciler) observeNeeds(ctx context.Context, b *etcdv1beta2.EtcdBackup, cluster *etcdv1beta2.EtcdCluster) (*obstacle, error) {
	var needs []backuppod.Need
	if name := tlsSecret(b, cluster); name != "" {
		needs = append(needs, backuppod.SecretNeed("clientTLSSecret", name))
	}
	reason, message, err := backuppod.Missing(ctx, r.Live, b.Namespace, append(needs, placeOf(b).Needs()...))
	if err != nil || reason == "" {
		return nil, err
	}
	return &obstacle{reason, message}, nil
}
