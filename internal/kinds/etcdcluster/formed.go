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

// births remembers which cluster has a name, and of one that is not formed yet since when it has
// had a quorum. A process that does not know waits once more, which costs nothing but time.
type births struct {
	mu    sync.Mutex
	times map[types.NamespacedName]birth
}

type birth struct {
	uid types.UID
	// quorum is since when there has been one; zero: there is none.
	quorum time.Time
	// members is how many there are to be in the beginning. The first pod may not be in the
	// cache yet when the user asks for another number.
	members int32
	// pods are those of its first members, with when they came into the cache.
	pods map[types.UID]time.Time
}

// isAnother reports whether the last cluster of a name was another one, and notes this one.
func (b *births) isAnother(key types.NamespacedName, c *etcdv1beta2.EtcdCluster) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.times == nil {
		b.times = map[types.NamespacedName]birth{}
	}
	last, known := b.times[key]
	if last.uid != c.UID {
		b.times[key] = birth{uid: c.UID}
	}
	return known && last.uid != c.UID
}

// begunWith remembers the number of first members that was decided on first.
func (b *births) begunWith(key types.NamespacedName, members int32) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.times[key]
	if last.members == 0 && members > 0 {
		last.members = members
		b.times[key] = last
	}
	return last.members
}

func (b *births) since(key types.NamespacedName, c *etcdv1beta2.EtcdCluster, f facts) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.times[key]
	switch {
	case c.Status.ClusterID != "" || !f.view.HasQuorum():
		last.quorum = time.Time{}
	case last.quorum.IsZero():
		last.quorum = f.now
	}
	b.times[key] = last
	return last.quorum
}

// lastPod is when the last of the pods that there are now came into the cache.
func (b *births) lastPod(key types.NamespacedName, f facts) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, known := b.times[key], map[types.UID]time.Time{}
	var latest time.Time
	for _, pod := range f.pods {
		came, seen := last.pods[pod.UID]
		if !seen {
			came = f.now
		}
		known[pod.UID] = came
		if came.After(latest) {
			latest = came
		}
	}
	last.pods = known
	b.times[key] = last
	return latest
}

func (b *births) forget(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.times, key)
}

// formed reports whether the first members have formed the cluster: all of them have answered,
// or a quorum has for long enough.
func (f facts) formed(c *etcdv1beta2.EtcdCluster) bool {
	if c.Status.ClusterID != "" || !f.view.HasQuorum() || int32(len(f.view.Members)) != f.first(c) || !f.ofFirst(c) {
		return false
	}
	if !f.firstStay(c) || f.seenBeforeTheLast(c) {
		return false
	}
	all := f.view.HealthyVoters() == len(f.view.Members)
	return all || !f.quorumSince.IsZero() && f.now.Sub(f.quorumSince) >= straggle
}

// firstStay reports whether the pods of all first members are there and stay. What is seen of one that
// is recreated is past, and so is all that was seen before the last pod was known of: anyone who counts it as formed
// has it lose its data.
func (f facts) firstStay(c *etcdv1beta2.EtcdCluster) bool {
	for serial := range int64(f.first(c)) {
		pod := f.pods[memberName(c, serial)]
		if pod == nil || pod.DeletionTimestamp != nil || ended(pod) || pod.Annotations[wishesAnnotation] != wishes(c) {
			return false
		}
	}
	return true
}

// ofFirst reports whether those that answer are the first members of this very cluster.
func (f facts) ofFirst(c *etcdv1beta2.EtcdCluster) bool {
	for serial := range int64(f.first(c)) {
		if _, ok := f.view.Member(bootstrapID(c, memberName(c, serial))); !ok {
			return false
		}
	}
	return true
}

// seenBeforeTheLast reports whether a quorum of the first members was seen, but before the last of their
// pods was known of. The next look may show just the same, and wakes no one by itself.
func (f facts) seenBeforeTheLast(c *etcdv1beta2.EtcdCluster) bool {
	return c.Status.ClusterID == "" && f.view.HasQuorum() && f.view.At.Before(f.lastPod)
}

// nextLook passes at most until there is another look at members that are asked for one.
const nextLook = 500 * time.Millisecond

// formsIn is how long it takes until the cluster is formed without those that are missing, or by what
// the next look shows; 0: it does not depend on time.
func (f facts) formsIn(c *etcdv1beta2.EtcdCluster) time.Duration {
	switch {
	case c.Status.ClusterID != "" || f.quorumSince.IsZero():
		return 0
	case f.seenBeforeTheLast(c):
		return nextLook
	}
	return max(0, straggle-f.now.Sub(f.quorumSince))
}
