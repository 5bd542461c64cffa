// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

func TestNoClientIsSentToTheRestoredMemberWhileAnEarlierPodServes(t *testing.T) {
	w := observed(clustertest.New(), 1).hidden(0)
	w.others.Pods = []*corev1.Pod{{}}
	w.others.Pods[0].Labels = map[string]string{model.VoterLabel: model.IsVoter}
	if d := w.decide(w.c); len(d.show) > 0 {
		t.Error("expected the member to be shown only when the others are gone")
	}
	seed := w.pods[model.MemberName(w.c, 0)]
	seed.Annotations[model.StartAnnotation] = model.StartAs(etcdstart.Restored, id(0))
	for _, patch := range planAt(w.c, w.facts, clustertest.Noon).Patches {
		if strings.Contains(string(patch.Data), jsonpatch.Pointer("metadata", "labels", model.VoterLabel)) {
			t.Errorf("expected it not to be shown when it is established either, got %s", patch.Data)
		}
	}
	seed.Annotations[model.StartAnnotation] = model.StartAs(etcdstart.Established, id(0))
	w.others.Pods[0].DeletionTimestamp = &metav1.Time{Time: clustertest.Noon.Add(30 * time.Second)} // when its grace period ends
	if d := w.decide(w.c); len(d.show) > 0 {
		t.Error("expected the member not to be shown while the others are ending")
	}
	if got := conditionOf(reported(w), etcdv1beta2.EtcdClusterAvailable); !strings.HasPrefix(got, "False Restoring: ") {
		t.Errorf("expected the cluster not to be called available before anybody is led to it, got %s", got)
	}
	w.others.Pods[0].DeletionTimestamp = &metav1.Time{Time: clustertest.Noon}
	if d := w.decide(w.c); len(d.show) != 1 {
		t.Error("expected the member to be shown when the grace of the others has passed")
	}
}

// replaced returns a cluster that a restore has replaced. The pods from before the restore run on silent nodes, and
// were deleted a minute ago.
func replaced(voters int32, silent ...int64) world {
	w := observed(clustertest.New(func(c *etcdv1beta2.EtcdCluster) {
		c.Status.Restore = &etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseRestored, UID: "r", Serial: 20, FormerVoters: voters}
		c.Status.Lineage = "r"
	}), 0).with(20, false)
	w.view.Status[id(20)] = etcd.MemberStatus{ID: id(20), Leader: id(20), Version: "3.5.35"}
	for _, serial := range silent {
		w = w.silent(serial, time.Second)
		pod := &corev1.Pod{}
		pod.Name, pod.Spec.NodeName = model.MemberName(w.c, serial), "node-"+strconv.FormatInt(serial, 10)
		pod.Labels = map[string]string{model.VoterLabel: model.IsVoter}
		pod.DeletionTimestamp = &metav1.Time{Time: clustertest.Noon.Add(-time.Minute)}
		w.others.Pods = append(w.others.Pods, pod)
	}
	return w.hidden(20)
}

func (w world) outOfService(serial int64) world {
	w.nodes["node-"+strconv.FormatInt(serial, 10)] = model.Node{SilentSince: clustertest.Noon.Add(-time.Hour), OutOfService: true}
	return w
}

func (w world) heard(serial int64) world {
	w.nodes["node-"+strconv.FormatInt(serial, 10)] = model.Node{}
	return w
}

func (w world) nodeGone(serial int64) world {
	delete(w.nodes, "node-"+strconv.FormatInt(serial, 10))
	return w
}

// A majority of old members may run on nodes that are cut off. They still serve the clients that reach them, until a
// user stops them.
func TestNoClientIsSentToTheRestoredMemberWhileAnEarlierMajorityMayRun(t *testing.T) {
	for name, c := range map[string]struct {
		world world
		shown bool
	}{
		"two of three are on silent nodes":               {replaced(3, 0, 1), false},
		"two, which is not known yet":                    {replaced(3, 0, 1).heard(0).heard(1), false},
		"one of three is":                                {replaced(3, 0), true},
		"two of four are":                                {replaced(4, 0, 1), true},
		"the only one is":                                {replaced(1, 0), false},
		"two are, and one of the nodes is vouched":       {replaced(3, 0, 1).outOfService(1), true},
		"two are, and one of the nodes is deleted":       {replaced(3, 0, 1).nodeGone(1), true},
		"two, when it was not noted how many there were": {replaced(0, 0, 1), true},
	} {
		d := c.world.decide(c.world.c)
		if shown := len(d.show) > 0; shown != c.shown {
			t.Errorf("%s: expected clients to be led to the restored member: %t, got %t", name, c.shown, shown)
		}
		got := conditionOf(reported(c.world), etcdv1beta2.EtcdClusterAvailable)
		if strings.Contains(got, ", but these pods may still serve clients: "+model.MemberName(c.world.c, 0)+": ") == c.shown {
			t.Errorf("%s: expected the node to be reported only if clients wait for it, got %s", name, got)
		}
	}
	if w := replaced(3, 0, 1).wantsRestore(); w.takesUp(w.c) {
		t.Error("expected another restore to wait until it is known how many earlier members there may be")
	}
}

func TestTheClusterDoesNotGoOverWhileAMajorityOfItIsCutOff(t *testing.T) {
	silent := func(serials ...int64) world {
		w := observed(clustertest.New(), 3).down(0, 1, 2).wantsRestore().takenUp().seeded().restored(whole).serving()
		for _, serial := range serials {
			w = w.silent(serial, time.Second)
		}
		return w
	}
	for name, c := range map[string]struct {
		world world
		over  bool
	}{
		"two of three are on silent nodes": {silent(0, 1), false},
		"one of three is":                  {silent(0), true},
		"one, and one node is vouched for": {silent(0).outOfService(1), true},
	} {
		r := reading(t, nil, []client.Object{c.world.restore, c.world.others.Pods[0]})
		c.world.seedIsLive = false
		if err := r.confirmSeed(t.Context(), c.world.c, &c.world.facts); err != nil {
			t.Fatal(err)
		}
		got := reported(c.world)
		if over := got.Status.Lineage != ""; over != c.over {
			t.Errorf("%s: expected the cluster to go over: %t, got %t", name, c.over, over)
		}
		ready := conditionOf(got, "Ready")
		if strings.Contains(ready, "they may still accept writes that opcrew cannot see; "+model.MemberName(c.world.c, 0)+": its node node-0 does not report") == c.over {
			t.Errorf("%s: expected the node to be reported only if it waits for it, got %s", name, ready)
		}
		if c.over && got.Status.Restore.FormerVoters != 3 {
			t.Errorf("%s: expected it to be noted that three voted, got %+v", name, got.Status.Restore)
		}
	}
}
