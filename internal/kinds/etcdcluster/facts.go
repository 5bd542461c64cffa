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
	// born holds what this process knows about clusters that are not formed yet.
	born formation.Memory
	// refused holds why clusters did not take their last steps.
	refused apply.Refusals
	// upkeep records what opcrew last did to the data of each cluster.
	upkeep apply.Histories
	// unbound explains why claims have no volume.
	unbound   *workload.Unbound
	classes   workload.Classes
	standards *podsecurity.Guard
}

// taker returns a Taker, which takes steps after live reads.
func (r *reconciler) taker() apply.Taker {
	return apply.Taker{Tools: r.Tools, Prober: r.prober, Refused: &r.refused, Upkeep: &r.upkeep}
}

// facts holds everything that is read about a cluster.
type facts struct {
	now        time.Time
	agentImage string
	// operator is the namespace of the operator.
	operator string
	// backupImage is that of what makes a seed's data.
	backupImage string
	pods        map[string]*corev1.Pod
	// patched names pods whose last patch by opcrew is not in the cache yet.
	patched map[string]bool
	claims  map[string]*corev1.PersistentVolumeClaim
	// volumes are the volumes of the claims that should have the spec's size.
	volumes workload.Volumes
	// others are pods and claims of other lineages than the cluster's: see lineage.go.
	others lineage.Others
	// restore is the EtcdRestore with the cluster's name; nil if there is none.
	restore *etcdv1beta2.EtcdRestore
	// backups are the EtcdBackups of the cluster. They are read only when no member is left.
	backups []*etcdv1beta2.EtcdBackup
	// needs is what the seed of a restore lacks; nil if nothing. seedIsLive is true if the seed is ready, and a live
	// read has found its pod.
	needs      *model.Obstacle
	seedIsLive bool
	// unfit is what keeps an EtcdRestore from beginning; nil if nothing does.
	unfit *model.Obstacle
	// nodes are the nodes that the pods run on.
	nodes map[string]model.Node
	// disks holds, by member name, where the volumes of unschedulable pods are.
	disks map[string]model.Disk
	// unbound is the first pod whose claim has no volume, and why.
	unbound workload.UnboundCause
	// view is the last view of the members; its time is zero if there was none.
	view etcd.View
	// otherID is the id of another cluster that answers at the members' addresses; empty if none does.
	otherID string
	// quorumSince is when the current quorum of first members was first seen.
	quorumSince time.Time
	// begunWith is the number of first members with which this process began the cluster. 0 if another process began
	// it, or the cluster was formed long ago.
	begunWith int32
	// lastPod is when the last pod of the first members came into the cache. It is not set for a formed cluster.
	lastPod time.Time
	// refused is the last step that the cluster did not take.
	refused apply.Refused
	// history records what opcrew did to the data earlier.
	history steps.History
	// unsafe is why pods of the spec may not be written, such as a rule that they would break; nil if they may.
	// unsafeAgain is when to ask again; 0 if only an event changes the answer.
	unsafe      *model.Obstacle
	unsafeAgain time.Duration
	// tls is what is wrong with the certificates; nil: nothing.
	tls *model.Obstacle
	// paused is true if nothing may be changed for now.
	paused bool
	// behind is true if the cache has an older status of the cluster than the API server.
	behind bool
}

// renew forgets what is known under a name if it is about an earlier cluster.
func (r *reconciler) renew(key client.ObjectKey, c *etcdv1beta2.EtcdCluster) {
	if r.born.IsAnother(key, c.UID) {
		r.prober.Forget(key)
		r.refused.Forget(key)
		r.upkeep.Forget(key)
	}
}

// forget drops everything that is known under a name.
func (r *reconciler) forget(key client.ObjectKey) {
	r.prober.Forget(key)
	r.born.Forget(key)
	r.refused.Forget(key)
	r.upkeep.Forget(key)
	r.unbound.Forget(key)
}
