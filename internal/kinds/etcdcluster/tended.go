// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// tended is what the process remembers of the upkeep of a cluster. No safety rests on it: anyone who does not
// know compares, compacts or defragments once more than is needed.
type tended struct {
	// cluster is etcd's name for the one that it is of.
	cluster string
	// compaction is the last, to the revision compacted.
	compaction attempt
	compacted  int64
	// defragmented are the last by member.
	defragmented map[uint64]attempt
	// compared is what the last comparison of the members has shown; nil: there was none.
	compared *comparison
}

// attempt is something that was tried.
type attempt struct {
	at time.Time
	// failed says why it did not succeed.
	failed string
	// size and inUse are what it left of a member's data, and took is for how long that answered no one.
	size, inUse int64
	took        time.Duration
}

// upkeeps are those of all clusters.
type upkeeps struct {
	mu   sync.Mutex
	last map[types.NamespacedName]tended
}

// of is what is remembered of a cluster; nothing of another one that had its name.
func (u *upkeeps) of(key types.NamespacedName, cluster string) tended {
	u.mu.Lock()
	defer u.mu.Unlock()
	if t := u.last[key]; t.cluster == cluster {
		return t
	}
	return tended{cluster: cluster}
}

// note changes what is remembered. What was given out before stays as it is.
func (u *upkeeps) note(key types.NamespacedName, cluster string, change func(*tended)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[types.NamespacedName]tended{}
	}
	t := u.last[key]
	if t.cluster != cluster {
		t = tended{cluster: cluster}
	}
	if t.defragmented = maps.Clone(t.defragmented); t.defragmented == nil {
		t.defragmented = map[uint64]attempt{}
	}
	change(&t)
	u.last[key] = t
}

func (u *upkeeps) forget(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.last, key)
}

// tended reads what is remembered after the members were looked at: what has ended by then is in it. A
// comparison is over with the alarm that it was made for.
func (r *reconciler) tended(c *etcdv1beta2.EtcdCluster, seen etcd.View) tended {
	key, corrupt := keyOf(c), func(a etcd.Alarm) bool { return a.Kind == etcd.AlarmCorrupt }
	out := r.upkeep.of(key, c.Status.ClusterID)
	if out.compared != nil && seen.Err == nil && !seen.Stale && !slices.ContainsFunc(seen.Alarms(), corrupt) {
		r.upkeep.note(key, c.Status.ClusterID, func(t *tended) { t.compared = nil })
		out.compared = nil
	}
	return out
}
