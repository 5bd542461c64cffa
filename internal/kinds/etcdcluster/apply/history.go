// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Histories remembers, for each EtcdCluster, what opcrew did to its data, such as defragmentations.
type Histories struct {
	mu   sync.Mutex
	last map[types.NamespacedName]steps.History
}

// Of returns what opcrew did to the data of the cluster with the given name and etcd cluster ID. The result is empty if
// the record belongs to an earlier cluster with the same name.
func (u *Histories) Of(key types.NamespacedName, cluster string) steps.History {
	u.mu.Lock()
	defer u.mu.Unlock()
	if t := u.last[key]; t.Cluster == cluster {
		return t
	}
	return steps.History{Cluster: cluster}
}

// Record changes the history of a cluster. Histories that the method Of returned earlier stay unchanged.
func (u *Histories) Record(key types.NamespacedName, cluster string, change func(*steps.History)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[types.NamespacedName]steps.History{}
	}
	t := u.last[key]
	if t.Cluster != cluster {
		t = steps.History{Cluster: cluster}
	}
	if t.Defragmented = maps.Clone(t.Defragmented); t.Defragmented == nil {
		t.Defragmented = map[uint64]steps.Attempt{}
	}
	change(&t)
	u.last[key] = t
}

// Forget drops the history of a deleted cluster.
func (u *Histories) Forget(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.last, key)
}

// After returns the history of a cluster for use with a view of its members. opcrew compares the members' data while
// etcd raises the alarm CORRUPT. If the view shows no such alarm any more, After first drops the comparison.
func (u *Histories) After(c *etcdv1beta2.EtcdCluster, seen etcd.View) steps.History {
	key, corrupt := client.ObjectKeyFromObject(c), func(a etcd.Alarm) bool { return a.Kind == etcd.AlarmCorrupt }
	out := u.Of(key, c.Status.ClusterID)
	if out.Compared != nil && seen.Err == nil && !seen.Stale && !slices.ContainsFunc(seen.Alarms(), corrupt) {
		u.Record(key, c.Status.ClusterID, func(h *steps.History) { h.Compared = nil })
		out.Compared = nil
	}
	return out
}
