// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/formation"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Regression: a cluster was deleted and recreated under the same name. opcrew then used what the prober had last read
// from the old cluster, and treated the new cluster as formed.
func TestAClusterIsFormedByItsOwnFirstMembersOnly(t *testing.T) {
	old := clustertest.New(clustertest.Unformed)
	w := observed(old, 3)
	now := clustertest.New(clustertest.Unformed, func(c *etcdv1beta2.EtcdCluster) { c.UID = "u-2" })
	if !w.formation(old).IsFormed() || w.formation(now).IsFormed() {
		t.Errorf("expected the members to form their cluster (%v), and no later one of its name (%v)", w.formation(old).IsFormed(), w.formation(now).IsFormed())
	}
}

func TestBeforeTheClusterIsFormedPodsMayBeginAgain(t *testing.T) {
	c := clustertest.New(clustertest.Unformed)
	w := observed(c, 0)
	if d := w.decide(c); len(d.members) != 3 || !w.wantsPod(c, d, d.members[0]) {
		t.Errorf("expected three first members with pods, got %d", len(d.members))
	}
	for _, m := range w.decide(c).members {
		if got := w.builder(c).StartOf(m); !strings.HasPrefix(got, "bootstrap ") {
			t.Errorf("expected a first member to be allowed to begin on an empty volume, got %q", got)
		}
	}
	w = w.with(0, false).with(1, false)
	if d := w.asks(clustertest.Sized(5)).decide(c); len(d.members) != 3 {
		t.Errorf("expected the first members to stay three until they have formed the cluster, got %d", len(d.members))
	}
}

// Regression: after a cluster was deleted and recreated, opcrew found at every reconcile that the name belonged to a
// new cluster. It forgot the members' quorum each time and never treated the cluster as formed.
func TestAClusterIsAnotherOnceOnly(t *testing.T) {
	r := &reconciler{prober: etcd.NewProber(etcd.Dial, clocktesting.NewFakeClock(clustertest.Noon), nil)}
	key := types.NamespacedName{Namespace: "shop", Name: "example"}
	old, now := clustertest.New(clustertest.Unformed), clustertest.New(clustertest.Unformed, func(c *etcdv1beta2.EtcdCluster) { c.UID = "u-2" })
	r.renew(key, old)
	r.born.BegunWith(key, 1)
	for range 3 {
		r.renew(key, now)
		if got := r.born.BegunWith(key, 3); got != 3 {
			t.Errorf("expected the new cluster to begin with its own 3 members, got %d", got)
		}
	}
	r.renew(key, now)
	if got := r.born.BegunWith(key, 5); got != 3 {
		t.Errorf("expected what is known of the new cluster to stay known, got %d members", got)
	}
}

// Regression: an edit of the spec recreated the pods of the first members at the moment when the cluster counted as
// formed. None of these members could ever rejoin.
func TestAClusterIsNotFormedByPodsThatAreRecreated(t *testing.T) {
	goes := func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(clustertest.Noon)) }
	fails := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		asks   []clustertest.Option
		want   bool
	}{
		"all stay":           {nil, nil, true},
		"one is going":       {goes, nil, false},
		"one has ended":      {fails, nil, false},
		"another spec comes": {nil, []clustertest.Option{clustertest.WithEnv("A", "1")}, false},
	} {
		w := observed(clustertest.New(clustertest.Unformed), 3).asks(test.asks...)
		if test.change != nil {
			test.change(w.pods[model.MemberName(w.c, 1)])
		}
		if got := w.formation(w.c).IsFormed(); got != test.want {
			t.Errorf("%s: expected the cluster to count as formed: %v, got %v", name, test.want, got)
		}
	}
	w := observed(clustertest.New(clustertest.Unformed), 3)
	delete(w.pods, model.MemberName(w.c, 2))
	if w.formation(w.c).IsFormed() {
		t.Error("expected a cluster not to be formed while a first member has no pod")
	}
}

// Regression: opcrew endlessly recreated a pod because its volume had another member's data. The new pod has the same
// volume, so recreating the pod helps only if the volume is empty.
func TestBeforeTheClusterIsFormedOnlyAnEmptyVolumeHasAPodRecreated(t *testing.T) {
	for reason, want := range map[etcdstart.Reason]bool{etcdstart.VolumeLost: true, etcdstart.VolumeForeign: false} {
		w := observed(clustertest.New(clustertest.Unformed, clustertest.WithClaims), 3).down(0, 2).refused(1, reason)
		if d := w.decide(w.c); d.drop[model.MemberName(w.c, 1)] != want {
			t.Errorf("%s: expected the pod to be recreated: %v", reason, want)
		}
	}
}

// Found by fault injection: opcrew recreated a first member's pod before the cache showed that the old pod was deleted.
// Answers of the old pod then counted as answers of the new pod.
func TestAClusterIsNotFormedByWhatWasSeenBeforeItsPods(t *testing.T) {
	w := observed(clustertest.New(clustertest.Unformed), 3)
	born, key := formation.Memory{}, types.NamespacedName{Namespace: "shop", Name: "example"}
	born.IsAnother(key, w.c.UID)
	if w.lastPod = born.LastPod(key, w.now, w.pods); !w.formation(w.c).IsFormed() {
		t.Fatal("expected pods that were known when the members were looked at to form the cluster")
	}
	recreated := w.pods[model.MemberName(w.c, 1)].DeepCopy()
	recreated.UID = "recreated"
	w.pods[recreated.Name], w.now = recreated, clustertest.Noon.Add(time.Second)
	if w.lastPod = born.LastPod(key, w.now, w.pods); w.formation(w.c).IsFormed() {
		t.Error("expected a pod that came since to be looked at first")
	}
	// Found by fault injection: when the prober read the members again, nothing had changed, so no reconcile started
	// for ten seconds or more.
	if w.quorumSince = clustertest.Noon; w.again(w.c, w.decide(w.c)) > time.Second {
		t.Errorf("expected the next look to be seen soon, got %s", w.again(w.c, w.decide(w.c)))
	}
	w.view.At = clustertest.Noon.Add(2 * time.Second)
	if w.now = w.view.At; !w.formation(w.c).IsFormed() {
		t.Error("expected the cluster to be formed once its pods were looked at")
	}
}
