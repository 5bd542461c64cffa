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
	// born is what the process knows about clusters that are not formed yet.
	born formation.Memory
	// refused is why clusters did not take their last steps.
	refused apply.Refusals
	// upkeep is what was done to clusters' data last.
	upkeep apply.Histories
	// unbound explains why claims have no volume.
	unbound   *workload.Unbound
	classes   workload.Classes
	standards *podsecurity.Guard
}

// taker takes steps, and reads what they rest on from the API server itself.
func (r *reconciler) taker() apply.Taker {
	return apply.Taker{Tools: r.Tools, Prober: r.prober, Refused: &r.refused, Upkeep: &r.upkeep}
}

// facts are what is read about a cluster.
type facts struct {
	now        time.Time
	agentImage string
	// operator is the namespace of the operator.
	operator string
	// backupImage is that of what makes a seed's data.
	backupImage string
	pods        map[string]*corev1.Pod
	// patched are pods whose last patch by opcrew the cache does not show yet.
	patched map[string]bool
	claims  map[string]*corev1.PersistentVolumeClaim
	// volumes are those of the claims that are to have the size of the spec.
	volumes workload.Volumes
	// others are pods and claims of another lineage than the cluster's: see lineage.go.
	others lineage.Others
	// restore is the EtcdRestore of the cluster's name, nil if there is none.
	restore *etcdv1beta2.EtcdRestore
	// backups are the EtcdBackups of the cluster; they are read when none of its members is left.
	backups []*etcdv1beta2.EtcdBackup
	// needs is what the seed of a restore lacks; nil: nothing. seedIsLive: the seed serves, and the API server itself has its
	// pod.
	needs      *model.Obstacle
	seedIsLive bool
	// unfit is what keeps an EtcdRestore from beginning; nil: nothing.
	unfit *model.Obstacle
	// nodes are those that the pods run on.
	nodes map[string]model.Node
	// disks are, by name, where the volumes are of members whose pods cannot be scheduled.
	disks map[string]model.Disk
	// unbound is the first pod whose claim has no volume, and why.
	unbound workload.UnboundCause
	// view is the last view of the members; without a time if there was none.
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
	// refused is why clusters did not take their last steps.
	refused apply.Refused
	// history is what was done to the data before.
	history steps.History
	// unsafe is which rule pods of the spec would break; nil: none.
	unsafe *model.Obstacle
	// tls is what is wrong with the certificates; nil: nothing.
	tls *model.Obstacle
	// paused: nothing is changed for now.
	paused bool
	// behind: the API server knows the cluster as further than the cache does.
	behind bool
}

// renew forgets what is known by a name if it is known about an earlier cluster.
func (r *reconciler) renew(key client.ObjectKey, c *etcdv1beta2.EtcdCluster) {
	if r.born.IsAnother(key, c.UID) {
		r.prober.Forget(key)
		r.refused.Forget(key)
		r.upkeep.Forget(key)
	}
}

// forget drops all that is known by a name.
func (r *reconciler) forget(key client.ObjectKey) {
	r.prober.Forget(key)
	r.born.Forget(key)
	r.refused.Forget(key)
	r.upkeep.Forget(key)
	r.unbound.Forget(key)
}
