// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/guard/podsecurity"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/apply"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/formation"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/lineage"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

type reconciler struct {
	*kit.Tools
	prober *etcd.Prober
	// born remembers what this process knows about new clusters, before their first members have a quorum.
	born formation.Memory
	// refused remembers why the last steps of clusters failed.
	refused apply.Refusals
	// upkeep remembers what opcrew last did to the data of each cluster, such as a compaction.
	upkeep apply.Histories
	// unbound finds out why claims have no volume.
	unbound   *workload.Unbound
	classes   workload.Classes
	standards *podsecurity.Guard
}

// taker returns a Taker, which carries out steps after live reads.
func (r *reconciler) taker() apply.Taker {
	return apply.Taker{Tools: r.Tools, Prober: r.prober, Refused: &r.refused, Upkeep: &r.upkeep}
}

// facts holds everything that opcrew reads about a cluster in one reconcile.
type facts struct {
	now        time.Time
	agentImage string
	// operator is the namespace of the operator.
	operator string
	// backupImage is the image of the container that restores data.
	backupImage string
	pods        map[string]*corev1.Pod
	// patched names the pods whose last patch by opcrew the cache does not show yet.
	patched map[string]bool
	claims  map[string]*corev1.PersistentVolumeClaim
	// volumes describes the claims whose volumes should have the size in the spec.
	volumes workload.Volumes
	// others are pods and claims of the cluster before a restore, or of an unfinished restore. They do not belong to
	// the current cluster.
	others lineage.Others
	// restore is the EtcdRestore with the cluster's name; nil if there is none.
	restore *etcdv1beta2.EtcdRestore
	// backups are the EtcdBackups of the cluster. They are read only if all members are lost.
	backups []*etcdv1beta2.EtcdBackup
	// needs is what the pod of the restored member (the seed) still lacks; nil if nothing is missing. seedIsLive is
	// true if this member is ready, and a live read has confirmed that its pod exists.
	needs      *model.Obstacle
	seedIsLive bool
	// unfit explains why the EtcdRestore cannot start; nil if it can.
	unfit *model.Obstacle
	// nodes are the nodes on which the pods run, by name.
	nodes map[string]model.Node
	// disks describes, by member name, where the volumes of unschedulable pods are.
	disks map[string]model.Disk
	// unbound names the first pod whose claim has no volume, and why.
	unbound workload.UnboundCause
	// view is what the prober last read from the members; its time is zero if the prober has read nothing yet.
	view etcd.View
	// otherID is the ID of another etcd cluster that responds at the members' addresses; empty if there is none.
	otherID string
	// quorumSince is when this process first saw the current quorum of first members.
	quorumSince time.Time
	// begunWith is the number of first members with which this process created the cluster; 0 if another process
	// created it, or it is already formed.
	begunWith int32
	// lastPod is when the last pod of the first members appeared in the cache; zero for a formed cluster.
	lastPod time.Time
	// refused is the last step that failed.
	refused apply.Refused
	// history records what opcrew did to the cluster's data earlier.
	history steps.History
	// unsafe explains why opcrew must not write pods with this spec, for example because they would break a Pod
	// Security Standard; nil if it may write them. unsafeAgain is the time until the next check; 0 if only an event can
	// change the result.
	unsafe      *model.Obstacle
	unsafeAgain time.Duration
	// tls is the problem with the certificates; nil if there is none.
	tls *model.Obstacle
	// paused is true if opcrew must change nothing for now.
	paused bool
	// behind is true if the cached status is older than the API server's.
	behind bool
}

// renew checks whether the name belonged to an earlier cluster until now. If so, it forgets everything about that
// cluster.
func (r *reconciler) renew(key client.ObjectKey, c *etcdv1beta2.EtcdCluster) {
	if r.born.IsAnother(key, c.UID) {
		r.prober.Forget(key)
		r.refused.Forget(key)
		r.upkeep.Forget(key)
	}
}

// forget drops everything that is remembered about a deleted cluster.
func (r *reconciler) forget(key client.ObjectKey) {
	r.prober.Forget(key)
	r.born.Forget(key)
	r.refused.Forget(key)
	r.upkeep.Forget(key)
	r.unbound.Forget(key)
}
