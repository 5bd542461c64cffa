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
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// wantsRestore adds an EtcdRestore for the cluster.
func (w world) wantsRestore() world {
	r := &etcdv1beta2.EtcdRestore{}
	r.Namespace, r.Name, r.UID = w.c.Namespace, w.c.Name, "uid-of-restore"
	r.Spec.EtcdCluster.Name, r.Spec.BackupStorageType = w.c.Name, etcdv1beta2.StorageS3
	r.Spec.S3 = &etcdv1beta2.S3Source{Path: "backups/example", AWSSecret: "aws"}
	w.restore, w.backupImage = r, "opcrew-backup:test"
	return w
}

// takenUp writes the status, so that it records the start of the restore.
func (w world) takenUp() world {
	w.c = reported(w)
	return w
}

// seeded creates the pod and the claim of the seed, the first member of the restored cluster.
func (w world) seeded() world {
	m := w.restoreInput(w.c).Seed()
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace, pod.UID = m.Name, w.c.Namespace, "uid-of-seed"
	pod.Annotations = map[string]string{
		model.StartAnnotation: model.StartAs(etcdstart.Restored, m.ID), model.SettingsAnnotation: build.SeedSettings + settings.Hash(w.c), etcdv1beta2.VersionAnnotation: versions.Desired(w.c),
	}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: build.Restorer}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: model.Container}}
	w.others.Pods = append(slices.Clone(w.others.Pods), pod)
	return w
}

// restored records the result of the container that restores the data.
func (w world) restored(r backup.Result) world {
	w.others.Pods[0].Status.InitContainerStatuses[0].State.Terminated = &corev1.ContainerStateTerminated{Message: string(r.Encode())}
	return w
}

// serving makes the restored member ready, in the prober's view and on the API server.
func (w world) serving() world {
	m := w.restoreInput(w.c).Seed()
	w.others.Pods[0].Status.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(clustertest.Noon.Add(-time.Second))}
	w.view = etcd.View{At: clustertest.Noon, ClusterID: 0xc2, Status: map[uint64]etcd.MemberStatus{m.ID: {ID: m.ID, Leader: m.ID, Version: "3.5.35"}}, ClusterVersion: "3.5.0"}
	w.view.Members = []etcd.Member{{ID: m.ID, Name: m.Name, PeerURLs: []string{w.c.PeerURL(m.Name)}, ClientURLs: []string{w.c.ClientURL(m.Name)}}}
	w.seedIsLive = w.restoreInput(w.c).SeedServes()
	return w
}

var whole = backup.Result{Outcome: backup.Succeeded, Object: "backups/example", Revision: 42, RestoredRevision: 1_000_000_042, SavedAt: clustertest.Noon.Add(-time.Hour)}

func TestTheSeedBeginsBesideTheClusterWithTheBackup(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims), 3).wantsRestore().takenUp()
	plan := planAt(w.c, w.facts, clustertest.Noon)
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
	begun := observed(clustertest.New(), 3).wantsRestore().takenUp().seeded()
	if got := reported(begun.restored(whole)).Status; got.ClusterID != "00000000000000c1" || got.Lineage != "" {
		t.Errorf("expected the cluster to be what it was while the seed does not serve, got %+v", got)
	}
	got := reported(begun.restored(whole).serving()).Status
	if got.ClusterID != "00000000000000c2" || got.Lineage != "uid-of-restore" || got.Restore.Phase != etcdv1beta2.PhaseRestored ||
		len(got.Membership) != 1 || got.Restore.Revision != 1_000_000_042 || !got.Restore.SavedAt.Equal(&metav1.Time{Time: clustertest.Noon.Add(-time.Hour)}) || got.FormedWith != "3.5.35" {
		t.Errorf("expected the seed to be the cluster, got %+v", got)
	}
	if available := conditionOf(&etcdv1beta2.EtcdCluster{Status: got}, etcdv1beta2.EtcdClusterAvailable); !strings.HasPrefix(available, "False Restoring: ") {
		t.Errorf("expected no client to be sent to it yet, got %s", available)
	}
	r := &reconciler{}
	if before := begun.c; !r.records(before, &etcdv1beta2.EtcdCluster{Status: got}) {
		t.Error("expected it to be written at once")
	}
}

func TestASeedThatDoesNotStayIsNotGoneOverTo(t *testing.T) {
	w := observed(clustertest.New(), 3).wantsRestore().takenUp().seeded().restored(whole).serving()
	for name, change := range map[string]func(*world){
		"its pod is going":             func(w *world) { w.others.Pods[0].DeletionTimestamp = &metav1.Time{Time: clustertest.Noon} },
		"its pod was recreated":        func(w *world) { w.seedIsLive = false },
		"another one is in its place":  func(w *world) { w.view.Members[0].ID++ },
		"it is not alone":              func(w *world) { w.view.Members = append(w.view.Members, etcd.Member{ID: 7}) },
		"the look is out of date":      func(w *world) { w.view.Stale = true },
		"the restore is called off":    func(w *world) { w.restore = nil },
		"another restore is asked for": func(w *world) { w.restore.UID = "uid-of-another" },
	} {
		one := w
		one.others.Pods, one.restore = []*corev1.Pod{w.others.Pods[0].DeepCopy()}, w.restore.DeepCopy()
		one.view.Members = slices.Clone(w.view.Members)
		change(&one)
		one.seedIsLive = one.seedIsLive && !one.restoreInput(one.c).IsCalledOff() && one.restoreInput(one.c).SeedServes()
		if got := reported(one).Status; got.Lineage != "" {
			t.Errorf("%s: expected the cluster to stay what it is, got lineage %q", name, got.Lineage)
		}
	}
}

func TestOfAnotherLineageOnlyWhatTheStatusKnowsToBePastGoes(t *testing.T) {
	for name, c := range map[string]struct {
		phase  string
		begun  int64 // serial of the restored member
		serial int64 // serial of the pod and the claim
		whole  bool
		pod    bool // whether the pod must stay
		claim  bool
	}{
		"of the cluster before, when the seed serves":        {etcdv1beta2.PhaseRestored, 5, 4, false, false, true},
		"of the cluster before, when all members serve":      {etcdv1beta2.PhaseRestored, 5, 4, true, false, false},
		"of a restore that was called off":                   {etcdv1beta2.PhaseAbandoned, 9, 9, true, false, false},
		"of a restore that goes on":                          {etcdv1beta2.PhaseRestoring, 9, 9, true, true, true},
		"of the cluster, with a restore that was called off": {etcdv1beta2.PhaseAbandoned, 9, 6, true, true, true},
	} {
		w := observed(clustertest.New(clustertest.WithClaims), 0)
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
		stays := w.keeps(w.c, w.decide(w.c))
		pod, claim := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
		pod.Name = model.MemberName(w.c, c.serial)
		claim.Name = pod.Name
		if stays(pod) != c.pod || stays(claim) != c.claim {
			t.Errorf("%s: expected the pod to stay: %t, the claim: %t; got %t, %t", name, c.pod, c.claim, stays(pod), stays(claim))
		}
	}
}

// The name of a pod shows which cluster the pod belongs to. Users can remove annotations, but cannot change the name.
func TestAMemberOfTheRestoredClusterStaysOneWhateverIsRemovedFromItsPod(t *testing.T) {
	c := clustertest.New(clustertest.WithClaims)
	c.Status.Serial = 7
	for name, test := range map[string]struct {
		phase  string
		since  int64
		serial int64
		want   model.Lineage
	}{
		"the seed, when the cluster has gone over to it":                       {etcdv1beta2.PhaseRestored, 0, 5, model.Current},
		"a member that was added since":                                        {etcdv1beta2.PhaseRestored, 0, 7, model.Current},
		"one that is about to be added":                                        {etcdv1beta2.PhaseRestored, 0, 8, model.Current},
		"an earlier member":                                                    {etcdv1beta2.PhaseRestored, 0, 4, model.Former},
		"the seed, until then":                                                 {etcdv1beta2.PhaseRestoring, 0, 5, model.OfSeed},
		"a member, until then":                                                 {etcdv1beta2.PhaseRestoring, 0, 4, model.Current},
		"the seed of a restore that was called off":                            {etcdv1beta2.PhaseAbandoned, 0, 5, model.OfSeed},
		"a member added since it was":                                          {etcdv1beta2.PhaseAbandoned, 0, 6, model.Current},
		"one from before an earlier restore, while another goes on":            {etcdv1beta2.PhaseRestoring, 3, 2, model.Former},
		"one from before an earlier restore, when another was called off":      {etcdv1beta2.PhaseAbandoned, 3, 2, model.Former},
		"one from before an earlier restore, when another was carried through": {etcdv1beta2.PhaseRestored, 3, 2, model.Former},
		"the seed of an earlier restore, while another goes on":                {etcdv1beta2.PhaseRestoring, 3, 3, model.Current},
		"the seed of an earlier restore, when another was called off":          {etcdv1beta2.PhaseAbandoned, 3, 3, model.Current},
		"the seed of an earlier restore, when another was carried through":     {etcdv1beta2.PhaseRestored, 3, 3, model.Former},
	} {
		c.Status.Restore = &etcdv1beta2.RestoreProgress{Phase: test.phase, Since: test.since, Serial: 5}
		if got := model.LineageOf(c, model.MemberName(c, test.serial)); got != test.want {
			t.Errorf("%s: expected lineage %d, got %d", name, test.want, got)
		}
	}
	c.Status.Restore = nil
	if model.LineageOf(c, model.MemberName(c, 3)) != model.Current || model.LineageOf(c, "unrelated") != model.Current {
		t.Error("expected all to be of the cluster where nothing was ever restored")
	}
}

// Regression: after a completed restore, a second restore started and was canceled. opcrew then deleted the volumes
// from before the first restore, and sent clients to the new members while old pods were still ending.
func TestARestoreThatIsCalledOffTakesNothingOfWhatAnEarlierOneLeft(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims), 0)
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
	claim.Name = model.MemberName(off.c, 2)
	if !off.keeps(off.c, off.decide(off.c))(claim) {
		t.Error("expected a volume from before the first restore to stay until all members are well")
	}
	again := off.wantsRestore()
	again.restore.UID = "uid-of-a-third"
	if at := reported(again).Status.Restore; at.Since != 5 {
		t.Errorf("expected the third restore to know what was before the first, got %+v", at)
	}
}

func TestTheNumberOfASeedIsNeverUsedAgain(t *testing.T) {
	w := observed(clustertest.New(clustertest.Unformed), 0)
	w.c.Status.Restore = &etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseAbandoned, Serial: 3}
	if got := w.formation(w.c).NextSerial(nil); got != 4 {
		t.Errorf("expected the next member to be number 4, after a seed that was called off, got %d", got)
	}
}

func TestARestoreThatIsCalledOffLeavesTheClusterAsItWas(t *testing.T) {
	w := observed(clustertest.New(), 3).wantsRestore().takenUp().seeded()
	w.restore = nil
	got := reported(w)
	if got.Status.Restore.Phase != etcdv1beta2.PhaseAbandoned || got.Status.ClusterID != "00000000000000c1" || !strings.Contains(conditionOf(got, "Ready"), "canceled") {
		t.Errorf("expected the restore to be over, got %+v", got.Status.Restore)
	}
	if plan := planAt(w.c, w.facts, clustertest.Noon); len(plan.Children) > 0 {
		t.Errorf("expected no more of it to be made, got %+v", kit.Plan{})
	}
}

func TestASeedThatEndedOrWasCreatedForAnEarlierSpecIsRecreated(t *testing.T) {
	begun := func() world { return observed(clustertest.New(), 3).wantsRestore().takenUp().seeded() }
	for name, c := range map[string]struct {
		world     world
		recreated bool
	}{
		"it reads the backup":        {begun(), false},
		"it was evicted":             {begun().ending(), true},
		"another version is wanted":  {begun().asks(clustertest.Versioned("3.6.16")), true},
		"other pods are wanted":      {begun().asks(clustertest.WithAllTLS), true},
		"it runs, and others wanted": {begun().restored(whole).serving().asks(clustertest.Versioned("3.6.16")), false},
	} {
		plan := planAt(c.world.c, c.world.facts, clustertest.Noon)
		seed, old := c.world.others.Pods[0], c.world.pods[model.MemberName(c.world.c, 0)]
		goes := len(plan.Prune) > 0 && !plan.Stays(seed)
		if goes != c.recreated || goes && !plan.Stays(old) {
			t.Errorf("%s: expected the seed's pod to go: %t, and no other; got %t", name, c.recreated, goes)
		}
	}
}

// ending makes the pod of the restored member fail.
func (w world) ending() world {
	pod := w.others.Pods[0].DeepCopy()
	pod.Status.Phase = corev1.PodFailed
	w.others.Pods = []*corev1.Pod{pod}
	return w
}

func TestWhatWasMadeForARestoreThatTheStatusDoesNotKnowStays(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims), 3)
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name, claim.Annotations = model.MemberName(w.c, 19), map[string]string{model.RestoreAnnotation: "uid-of-restore", model.SerialAnnotation: "19"}
	if !w.keeps(w.c, w.decide(w.c))(claim) {
		t.Error("expected a process with an old status to leave the data of a restore alone")
	}
	w.c.Status.Serial = 40
	w.c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: "uid-of-a-later-one", Phase: etcdv1beta2.PhaseRestored, Serial: 40}
	w.c.Status.Lineage = "uid-of-a-later-one"
	pod := &corev1.Pod{}
	pod.Name, pod.Annotations = claim.Name, claim.Annotations
	if w.keeps(w.c, w.decide(w.c))(pod) {
		t.Error("expected what an earlier restore began with to go with the cluster before a later one")
	}
}
