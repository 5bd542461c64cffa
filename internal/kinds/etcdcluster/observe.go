// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

type reconciler struct {
	*kit.Tools
	prober *etcd.Prober
	// born is what the process knows of clusters that are not formed yet.
	born births
	// refused is what clusters said when they did not take a step.
	refused refusals
	// upkeep is what was done to clusters' data last.
	upkeep upkeeps
	// unbound says why claims have no volume.
	unbound *workload.Unbound
	classes workload.Classes
}

// facts are all that is read about a cluster.
type facts struct {
	now         time.Time
	helperImage string
	// backupImage is that of what makes a seed's data.
	backupImage string
	pods        map[string]*corev1.Pod
	// patched are pods of which the cache does not show our own last patch yet.
	patched map[string]bool
	claims  map[string]*corev1.PersistentVolumeClaim
	// volumes are those of the claims that are to have the size of the spec.
	volumes workload.Volumes
	// others are pods and claims of another lineage than the cluster's: see lineage.go.
	others others
	// restore is the EtcdRestore of the cluster's name, nil if there is none.
	restore *etcdv1beta2.EtcdRestore
	// backups are the EtcdBackups of the cluster; they are read when none of its members is left.
	backups []*etcdv1beta2.EtcdBackup
	// needs says what the seed of a restore lacks; nil: nothing. seedIsLive: it serves, and the API
	// server itself has its pod.
	needs      *obstacle
	seedIsLive bool
	// unfit is what keeps a restore from beginning that was not taken up yet; nil: nothing.
	unfit *obstacle
	// nodes are those that the pods run on.
	nodes      map[string]node
	nodesKnown bool
	// homes are, by members whose pods cannot be placed, the host names of the only nodes that have their
	// volumes; hosts are those nodes, as far as they are there.
	homes map[string][]string
	hosts map[string]node
	// unbound is the first pod whose claim has no volume, and why.
	unbound workload.Lack
	// view is the last look at the members; one without a time if there was none.
	view etcd.View
	// otherID is the id of another cluster that answers at the members' addresses; empty: none does.
	otherID string
	// quorumSince is since when a quorum of first members has been there.
	quorumSince time.Time
	// begunWith is the number of first members that this process began the cluster with; 0: it
	// did not, or the cluster was formed long ago.
	begunWith int32
	// lastPod is when the last of the first members' pods was known of; it is not read later.
	lastPod time.Time
	// refused is about the last step, if it was not taken.
	refused refusedStep
	// tended is what was done to the data last.
	tended tended
	// tls is what is wrong with the certificates; nil: nothing.
	tls *obstacle
	// paused: nothing is changed for now.
	paused bool
	// behind: the API server knows the cluster as further than the cache does.
	behind bool
}

// Observe reads the members' pods, claims and nodes, the certificates, and what the prober
// has seen of the cluster itself, which it asks of no one here.
func (r *reconciler) Observe(ctx context.Context, c *etcdv1beta2.EtcdCluster) (facts, error) {
	key := client.ObjectKeyFromObject(c)
	f := facts{now: r.Clock.Now(), helperImage: r.HelperImage, backupImage: r.BackupImage, refused: r.refused.of(key)}
	f.paused = c.Spec.Paused || common.IsSet(c.Annotations, common.PausedAnnotation)
	r.renew(key, c)
	if c.DeletionTimestamp != nil {
		r.prober.Forget(client.ObjectKeyFromObject(c))
		return f, nil
	}
	for _, read := range []func(context.Context, *etcdv1beta2.EtcdCluster, *facts) error{
		r.observePods, r.observeVolumes, r.observeNodes, r.observeHomes, r.observeBackups, r.observeRestore, r.observeFormed, r.observeStore, r.confirmSeed,
	} {
		if err := read(ctx, c, &f); err != nil {
			return f, err
		}
	}
	return f, nil
}

// renew forgets what is known by a name if it is known of an earlier cluster.
func (r *reconciler) renew(key client.ObjectKey, c *etcdv1beta2.EtcdCluster) {
	if r.born.isAnother(key, c) {
		r.prober.Forget(key)
		r.refused.forget(key)
		r.upkeep.forget(key)
	}
}

// forget drops all that is known by a name.
func (r *reconciler) forget(key client.ObjectKey) {
	r.prober.Forget(key)
	r.born.forget(key)
	r.refused.forget(key)
	r.upkeep.forget(key)
	r.unbound.Forget(key)
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
		case lineageOf(c, pod.Name) != ofCluster:
			f.others.pods = append(f.others.pods, pod)
		default:
			f.pods[pod.Name] = pod
		}
		f.patched[pod.Name] = r.Writes().Behind(corev1.SchemeGroupVersion.WithKind("Pod"), pod)
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		switch {
		case !metav1.IsControlledBy(claim, c):
		case lineageOf(c, claim.Name) != ofCluster:
			f.others.claims = append(f.others.claims, claim)
		default:
			f.claims[claim.Name] = claim
		}
	}
	return nil
}

func (r *reconciler) observeNodes(ctx context.Context, _ *etcdv1beta2.EtcdCluster, f *facts) error {
	f.nodes, f.nodesKnown = map[string]node{}, true
	for _, pod := range slices.Concat(slices.Collect(maps.Values(f.pods)), f.others.pods) {
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
			f.nodes[n.Name] = nodeOf(n)
		}
	}
	return nil
}

// observeFormed asks the API server how far the cluster is before a pod is made or recreated that an old status
// would have do harm: a first member of a cluster that was formed meanwhile would lose its data, and members of a
// lineage that is past would, on the claims that are kept of them, be the cluster from before once more, beside the
// one that there is.
func (r *reconciler) observeFormed(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	begins := c.Status.ClusterID == "" && !restoring(c) && (!f.firstAreThere(c) || f.startsOver(c) || f.orphan(c) != "")
	if !begins && !f.comesBack(c) {
		return nil
	}
	return r.observeProgress(ctx, c, f)
}

// observeProgress asks the API server whether the cluster is as far as the cache has it.
func (r *reconciler) observeProgress(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	live := &etcdv1beta2.EtcdCluster{}
	found, err := r.found(ctx, client.ObjectKeyFromObject(c), live)
	if err != nil {
		return err
	}
	was, is := c.Status, live.Status
	f.behind = !found || live.UID != c.UID || is.ClusterID != was.ClusterID || phaseOf(is.Restore) != phaseOf(was.Restore)
	return nil
}

// comesBack reports whether a member may be about to have a pod on the claim that it has.
func (f facts) comesBack(c *etcdv1beta2.EtcdCluster) bool {
	if c.Status.ClusterID == "" || asleep(c) || f.paused {
		return false
	}
	for name := range f.claims {
		if f.pods[name] == nil {
			return true
		}
	}
	return false
}

// firstAreThere reports whether all pods of first members are, and none but these.
func (f facts) firstAreThere(c *etcdv1beta2.EtcdCluster) bool {
	for serial := range int64(f.first(c)) {
		if f.pods[memberName(c, serial)] == nil {
			return false
		}
	}
	return int32(len(f.pods)) == f.first(c)
}
