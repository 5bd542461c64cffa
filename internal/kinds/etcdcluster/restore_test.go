// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// asked has someone want the cluster restored.
func (w world) wantsRestore() world {
	r := &etcdv1beta2.EtcdRestore{}
	r.Namespace, r.Name, r.UID = w.c.Namespace, w.c.Name, "uid-of-restore"
	r.Spec.EtcdCluster.Name, r.Spec.BackupStorageType = w.c.Name, etcdv1beta2.StorageS3
	r.Spec.S3 = &etcdv1beta2.S3Source{Path: "backups/example", AWSSecret: "aws"}
	w.restore, w.backupImage = r, "opcrew-backup:test"
	return w
}

// takenUp is after the restore was written down.
func (w world) takenUp() world {
	w.c = report(w)
	return w
}

// seeded has the seed's pod, and claim, in the cluster.
func (w world) seeded() world {
	m := w.seed(w.c)
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace, pod.UID = m.name, w.c.Namespace, "uid-of-seed"
	pod.Annotations = map[string]string{
		startAnnotation: startOf(etcdstart.Restored, m.id), wishesAnnotation: seedWishes + wishes(w.c), etcdv1beta2.VersionAnnotation: wanted(w.c),
	}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: restorer}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container}}
	w.others.pods = append(slices.Clone(w.others.pods), pod)
	return w
}

// restored has the container that restores have ended.
func (w world) restored(r backup.Result) world {
	w.others.pods[0].Status.InitContainerStatuses[0].State.Terminated = &corev1.ContainerStateTerminated{Message: string(r.Encode())}
	return w
}

// serving has the seed serve, as the prober and the API server itself see it.
func (w world) serving() world {
	m := w.seed(w.c)
	w.others.pods[0].Status.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-time.Second))}
	w.view = etcd.View{At: noon, ClusterID: 0xc2, Status: map[uint64]etcd.MemberStatus{m.id: {ID: m.id, Leader: m.id, Version: "3.5.35"}}, ClusterVersion: "3.5.0"}
	w.view.Members = []etcd.Member{{ID: m.id, Name: m.name, PeerURLs: []string{w.c.PeerURL(m.name)}, ClientURLs: []string{w.c.ClientURL(m.name)}}}
	w.seedIsLive = w.seedServes(w.c)
	return w
}

var whole = backup.Result{Outcome: backup.Succeeded, Object: "backups/example", Revision: 42, RestoredRevision: 1_000_000_042, SavedAt: noon.Add(-time.Hour)}

func TestTheSeedBeginsBesideTheClusterWithTheBackup(t *testing.T) {
	w := observed(newCluster(withClaims), 3).wantsRestore().takenUp()
	plan := (&reconciler{}).Plan(w.c, w.facts, noon)
	if plan.Step != nil || len(plan.Prune) > 0 || len(plan.Patches) > 0 {
		t.Errorf("expected nothing of the cluster to be touched, got %+v", plan)
	}
	for _, child := range plan.Children {
		if pod, ok := child.Object.(*corev1ac.PodApplyConfiguration); ok {
			golden.Check(t, "seed.yaml", pod)
			return
		}
	}
	t.Error("expected a pod")
}

func TestTheClusterGoesOverToTheSeedWithOneWriteAndOnlyWhenThatServes(t *testing.T) {
	begun := observed(newCluster(), 3).wantsRestore().takenUp().seeded()
	if got := report(begun.restored(whole)).Status; got.ClusterID != "00000000000000c1" || got.Lineage != "" {
		t.Errorf("expected the cluster to be what it was while the seed does not serve, got %+v", got)
	}
	got := report(begun.restored(whole).serving()).Status
	if got.ClusterID != "00000000000000c2" || got.Lineage != "uid-of-restore" || got.Restore.Phase != etcdv1beta2.PhaseRestored ||
		len(got.Membership) != 1 || got.Restore.Revision != 1_000_000_042 || !got.Restore.SavedAt.Equal(&metav1.Time{Time: noon.Add(-time.Hour)}) || got.FormedWith != "3.5.35" {
		t.Errorf("expected the seed to be the cluster, got %+v", got)
	}
	if available := conditionOf(&etcdv1beta2.EtcdCluster{Status: got}, etcdv1beta2.EtcdClusterAvailable); !strings.HasPrefix(available, "False Restoring: ") {
		t.Errorf("expected nobody to be told that it serves yet, got %s", available)
	}
	r := &reconciler{}
	if before := begun.c; !r.Records(before, &etcdv1beta2.EtcdCluster{Status: got}) {
		t.Error("expected it to be written at once")
	}
}

func TestASeedThatDoesNotStayIsNotGoneOverTo(t *testing.T) {
	w := observed(newCluster(), 3).wantsRestore().takenUp().seeded().restored(whole).serving()
	for name, change := range map[string]func(*world){
		"its pod is going":             func(w *world) { w.others.pods[0].DeletionTimestamp = &metav1.Time{Time: noon} },
		"its pod was made anew":        func(w *world) { w.seedIsLive = false },
		"another one is in its place":  func(w *world) { w.view.Members[0].ID++ },
		"it is not alone":              func(w *world) { w.view.Members = append(w.view.Members, etcd.Member{ID: 7}) },
		"the look is out of date":      func(w *world) { w.view.Stale = true },
		"the restore is called off":    func(w *world) { w.restore = nil },
		"another restore is asked for": func(w *world) { w.restore.UID = "uid-of-another" },
	} {
		one := w
		one.others.pods, one.restore = []*corev1.Pod{w.others.pods[0].DeepCopy()}, w.restore.DeepCopy()
		one.view.Members = slices.Clone(w.view.Members)
		change(&one)
		one.seedIsLive = one.seedIsLive && !one.isCalledOff(one.c) && one.seedServes(one.c)
		if got := report(one).Status; got.Lineage != "" {
			t.Errorf("%s: expected the cluster to stay what it is, got lineage %q", name, got.Lineage)
		}
	}
}

func TestOfAnotherLineageOnlyWhatTheStatusKnowsToBePastGoes(t *testing.T) {
	for name, c := range map[string]struct {
		phase  string
		begun  int64 // number of the seed
		serial int64 // of the pod and the claim
		whole  bool
		pod    bool // stays
		claim  bool
	}{
		"of the cluster before, when the seed serves":        {etcdv1beta2.PhaseRestored, 5, 4, false, false, true},
		"of the cluster before, when all members serve":      {etcdv1beta2.PhaseRestored, 5, 4, true, false, false},
		"of a restore that was called off":                   {etcdv1beta2.PhaseAbandoned, 9, 9, true, false, false},
		"of a restore that goes on":                          {etcdv1beta2.PhaseRestoring, 9, 9, true, true, true},
		"of the cluster, with a restore that was called off": {etcdv1beta2.PhaseAbandoned, 9, 6, true, true, true},
	} {
		w := observed(newCluster(withClaims), 0)
		for serial := range int64(3) {
			w = w.with(c.begun%9+serial, false)
		}
		w.view.Status = map[uint64]etcd.MemberStatus{}
		for _, m := range w.view.Members {
			w.view.Status[m.ID] = etcd.MemberStatus{ID: m.ID, Version: "3.5.35", Leader: w.view.Members[0].ID}
		}
		if !c.whole {
			w = w.down(c.begun + 1)
		}
		if c.begun == 9 {
			w = w.with(6, false)
		}
		w.c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: "r", Phase: c.phase, Serial: c.begun}
		stays := w.stays(w.c, w.decide(w.c))
		pod, claim := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
		pod.Name = memberName(w.c, c.serial)
		claim.Name = pod.Name
		if stays(pod) != c.pod || stays(claim) != c.claim {
			t.Errorf("%s: expected the pod to stay: %t, the claim: %t; got %t, %t", name, c.pod, c.claim, stays(pod), stays(claim))
		}
	}
}

// What a member is of is reported by its name: annotations can be taken away by anybody.
func TestAMemberOfTheRestoredClusterIsOneWhateverSomebodyTakesOffItsPod(t *testing.T) {
	c := newCluster(withClaims)
	c.Status.Serial = 7
	for name, test := range map[string]struct {
		phase  string
		since  int64
		serial int64
		want   lineage
	}{
		"the seed, when the cluster has gone over to it":                     {etcdv1beta2.PhaseRestored, 0, 5, ofCluster},
		"a member that was added since":                                      {etcdv1beta2.PhaseRestored, 0, 7, ofCluster},
		"one that is about to be added":                                      {etcdv1beta2.PhaseRestored, 0, 8, ofCluster},
		"a member of before":                                                 {etcdv1beta2.PhaseRestored, 0, 4, ofFormer},
		"the seed, until then":                                               {etcdv1beta2.PhaseRestoring, 0, 5, ofSeed},
		"a member, until then":                                               {etcdv1beta2.PhaseRestoring, 0, 4, ofCluster},
		"the seed of a restore that was called off":                          {etcdv1beta2.PhaseAbandoned, 0, 5, ofSeed},
		"a member added since it was":                                        {etcdv1beta2.PhaseAbandoned, 0, 6, ofCluster},
		"one of before an earlier restore, while another goes on":            {etcdv1beta2.PhaseRestoring, 3, 2, ofFormer},
		"one of before an earlier restore, when another was called off":      {etcdv1beta2.PhaseAbandoned, 3, 2, ofFormer},
		"one of before an earlier restore, when another was carried through": {etcdv1beta2.PhaseRestored, 3, 2, ofFormer},
		"the seed of an earlier restore, while another goes on":              {etcdv1beta2.PhaseRestoring, 3, 3, ofCluster},
		"the seed of an earlier restore, when another was called off":        {etcdv1beta2.PhaseAbandoned, 3, 3, ofCluster},
		"the seed of an earlier restore, when another was carried through":   {etcdv1beta2.PhaseRestored, 3, 3, ofFormer},
	} {
		c.Status.Restore = &etcdv1beta2.RestoreProgress{Phase: test.phase, Since: test.since, Serial: 5}
		if got := lineageOf(c, memberName(c, test.serial)); got != test.want {
			t.Errorf("%s: expected lineage %d, got %d", name, test.want, got)
		}
	}
	c.Status.Restore = nil
	if lineageOf(c, memberName(c, 3)) != ofCluster || lineageOf(c, "stranger") != ofCluster {
		t.Error("expected all to be of the cluster where nothing was ever restored")
	}
}

// Regression: the volumes from before a restore that was carried through went as those of other owners when another
// restore was begun and called off, and their pods that were ending did not keep clients from the members of now.
func TestARestoreThatIsCalledOffTakesNothingOfWhatAnEarlierOneLeft(t *testing.T) {
	w := observed(newCluster(withClaims), 0)
	for serial := range int64(3) {
		w = w.with(5+serial, false)
	}
	w = w.down(6)
	w.c.Status.Lineage = "uid-of-an-earlier-one"
	w.c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: "uid-of-an-earlier-one", Phase: etcdv1beta2.PhaseRestored, Serial: 5}
	begun := w.wantsRestore().takenUp()
	begun.restore = nil
	off := begun.takenUp()
	if at := off.c.Status.Restore; at.Phase != etcdv1beta2.PhaseAbandoned || at.UID != "uid-of-restore" {
		t.Fatalf("expected the second restore to be called off, got %+v", at)
	}
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name = memberName(off.c, 2)
	if !off.stays(off.c, off.decide(off.c))(claim) {
		t.Error("expected a volume of before the first restore to stay until all members are well")
	}
	again := off.wantsRestore()
	again.restore.UID = "uid-of-a-third"
	if at := report(again).Status.Restore; at.Since != 5 {
		t.Errorf("expected the third restore to know what was before the first, got %+v", at)
	}
}

func TestTheNumberOfASeedIsNeverUsedAgain(t *testing.T) {
	w := observed(newCluster(unformed), 0)
	w.c.Status.Restore = &etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseAbandoned, Serial: 3}
	if got := w.nextSerial(w.c, nil); got != 4 {
		t.Errorf("expected the next member to be number 4, after a seed that was called off, got %d", got)
	}
}

func TestARestoreThatIsCalledOffLeavesTheClusterAsItWas(t *testing.T) {
	w := observed(newCluster(), 3).wantsRestore().takenUp().seeded()
	w.restore = nil
	got := report(w)
	if got.Status.Restore.Phase != etcdv1beta2.PhaseAbandoned || got.Status.ClusterID != "00000000000000c1" || !strings.Contains(conditionOf(got, "Ready"), "called off") {
		t.Errorf("expected the restore to be over, got %+v", got.Status.Restore)
	}
	if plan := (&reconciler{}).Plan(w.c, w.facts, noon); len(plan.Children) > 0 {
		t.Errorf("expected no more of it to be made, got %+v", kit.Plan{})
	}
}

func TestASeedThatEndedOrWasMadeForAnEarlierSpecIsMadeAnew(t *testing.T) {
	begun := func() world { return observed(newCluster(), 3).wantsRestore().takenUp().seeded() }
	for name, c := range map[string]struct {
		world world
		anew  bool
	}{
		"it reads the backup":        {begun(), false},
		"it was evicted":             {begun().ending(), true},
		"another version is wanted":  {begun().asks(versioned("3.6.16")), true},
		"other pods are wanted":      {begun().asks(withAllTLS), true},
		"it runs, and others wanted": {begun().restored(whole).serving().asks(versioned("3.6.16")), false},
	} {
		plan := (&reconciler{}).Plan(c.world.c, c.world.facts, noon)
		seed, old := c.world.others.pods[0], c.world.pods[memberName(c.world.c, 0)]
		goes := len(plan.Prune) > 0 && !plan.Stays(seed)
		if goes != c.anew || goes && !plan.Stays(old) {
			t.Errorf("%s: expected the seed's pod to go: %t, and no other; got %t", name, c.anew, goes)
		}
	}
}

// ending has the seed's pod have ended.
func (w world) ending() world {
	pod := w.others.pods[0].DeepCopy()
	pod.Status.Phase = corev1.PodFailed
	w.others.pods = []*corev1.Pod{pod}
	return w
}

func TestWhatWasMadeForARestoreThatTheStatusDoesNotKnowStays(t *testing.T) {
	w := observed(newCluster(withClaims), 3)
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name, claim.Annotations = memberName(w.c, 19), map[string]string{restoreAnnotation: "uid-of-restore", serialAnnotation: "19"}
	if !w.stays(w.c, w.decide(w.c))(claim) {
		t.Error("expected a process with an old status to leave the data of a restore alone")
	}
	w.c.Status.Serial = 40
	w.c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: "uid-of-a-later-one", Phase: etcdv1beta2.PhaseRestored, Serial: 40}
	w.c.Status.Lineage = "uid-of-a-later-one"
	pod := &corev1.Pod{}
	pod.Name, pod.Annotations = claim.Name, claim.Annotations
	if w.stays(w.c, w.decide(w.c))(pod) {
		t.Error("expected what an earlier restore began with to go with the cluster before a later one")
	}
}
