// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/etcd"
)

// Regression: a cluster that was made anew under its name was formed by what was known of the old one.
func TestAClusterIsFormedByItsOwnFirstMembersOnly(t *testing.T) {
	old := newCluster(unformed)
	w := observed(old, 3)
	now := newCluster(unformed, func(c *etcdv1beta2.EtcdCluster) { c.UID = "u-2" })
	if !w.formed(old) || w.formed(now) {
		t.Errorf("expected the members to form their cluster (%v), and no later one of its name (%v)", w.formed(old), w.formed(now))
	}
}

func TestBeforeTheClusterIsFormedPodsMayBeginAgain(t *testing.T) {
	c := newCluster(unformed)
	w := observed(c, 0)
	if d := w.decide(c); len(d.members) != 3 || !w.wantsPod(c, d, d.members[0]) {
		t.Errorf("expected three first members with pods, got %d", len(d.members))
	}
	for _, m := range w.decide(c).members {
		if got := w.startOf(c, m); !strings.HasPrefix(got, "bootstrap ") {
			t.Errorf("expected a first member to be allowed to begin on an empty volume, got %q", got)
		}
	}
	w = w.with(0, false).with(1, false)
	if d := w.asks(sized(5)).decide(c); len(d.members) != 3 {
		t.Errorf("expected the first members to stay three until they have formed the cluster, got %d", len(d.members))
	}
}

// Regression: a cluster that was made anew unseen was taken for another one at every look, and so
// was never formed.
func TestAClusterIsAnotherOnceOnly(t *testing.T) {
	r := &reconciler{prober: etcd.NewProber(etcd.Dial, clocktesting.NewFakeClock(noon), nil)}
	key := types.NamespacedName{Namespace: "shop", Name: "example"}
	old, now := newCluster(unformed), newCluster(unformed, func(c *etcdv1beta2.EtcdCluster) { c.UID = "u-2" })
	r.renew(key, old)
	r.born.begunWith(key, 1)
	for range 3 {
		r.renew(key, now)
		if got := r.born.begunWith(key, 3); got != 3 {
			t.Errorf("expected the new cluster to begin with its own 3 members, got %d", got)
		}
	}
	r.renew(key, now)
	if got := r.born.begunWith(key, 5); got != 3 {
		t.Errorf("expected what is known of the new cluster to stay known, got %d members", got)
	}
}
