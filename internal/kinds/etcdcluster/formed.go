// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// straggle is how long the last of the first members may take once a quorum of them is there.
// The cluster is formed without one that takes longer, which is then replaced as if it had
// lost its volume: it may not start on an empty one any more.
const straggle = 30 * time.Second

// births remembers since when clusters that are not formed yet have had a quorum. A process
// that does not know waits once more, which costs nothing but time.
type births struct {
	mu    sync.Mutex
	times map[types.NamespacedName]birth
}

type birth struct {
	uid types.UID
	at  time.Time
}

func (b *births) since(key types.NamespacedName, c *etcdv1beta2.EtcdCluster, f facts) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.Status.ClusterID != "" || !f.view.HasQuorum() {
		delete(b.times, key)
		return time.Time{}
	}
	if b.times == nil {
		b.times = map[types.NamespacedName]birth{}
	}
	if b.times[key].uid != c.UID {
		b.times[key] = birth{c.UID, f.now}
	}
	return b.times[key].at
}

func (b *births) forget(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.times, key)
}

// formed tells whether the first members have formed the cluster: all of them have answered,
// or a quorum has for long enough.
func (f facts) formed(c *etcdv1beta2.EtcdCluster) bool {
	if c.Status.ClusterID != "" || !f.view.HasQuorum() || int32(len(f.view.Members)) != f.first(c) {
		return false
	}
	all := f.view.HealthyVoters() == len(f.view.Members)
	return all || !f.quorumSince.IsZero() && f.now.Sub(f.quorumSince) >= straggle
}

// formsIn is how long it takes until the cluster is formed without those that are missing; 0:
// it does not depend on time.
func (f facts) formsIn(c *etcdv1beta2.EtcdCluster) time.Duration {
	if c.Status.ClusterID != "" || f.quorumSince.IsZero() {
		return 0
	}
	return max(0, straggle-f.now.Sub(f.quorumSince))
}
