// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backup"
	"github.com/opcrew/opcrew/internal/etcd"
	"github.com/opcrew/opcrew/internal/helper/etcdgate"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// asked has somebody want the cluster restored.
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
		startAnnotation: startOf(etcdgate.Restored, m.id), wishesAnnotation: seedWishes + wishes(w.c), etcdv1beta2.VersionAnnotation: wanted(w.c),
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

var whole = backup.Result{Outcome: backup.Succeeded, Object: "backups/example", Revision: 42, RestoredRevision: 1_000_000_042}

func TestARestoreIsWrittenDownBeforeAnythingIsDone(t *testing.T) {
	for name, w := range map[string]world{
		"of a cluster that runs":        observed(newCluster(withClaims), 3),
		"of one that has lost all":      observed(newCluster(), 3).without(0, 1, 2),
		"of one that was never there":   observed(newCluster(unformed), 0),
		"of one whose first members go": observed(newCluster(unformed), 3),
	} {
		w = w.wantsRestore()
		if plan := (&reconciler{}).Plan(w.c, w.facts, noon); len(plan.Children)+len(plan.Prune) > 0 || plan.Step != nil {
			t.Errorf("%s: expected nothing to be done yet, got %+v", name, plan)
		}
		at := report(w).Status.Restore
		if at == nil || at.Phase != etcdv1beta2.PhaseRestoring || at.UID != "uid-of-restore" || at.Serial < 1 {
			t.Errorf("%s: expected it to be written down, got %+v", name, at)
		}
	}
}

func TestWhatIsNoRestoreToBeginWith(t *testing.T) {
	asked := func(change func(*etcdv1beta2.EtcdRestore)) world {
		w := observed(newCluster(withClaims), 3).wantsRestore()
		change(w.restore)
		return w
	}
	none := func(*etcdv1beta2.EtcdRestore) {}
	for name, w := range map[string]world{
		"one that succeeded":           asked(func(r *etcdv1beta2.EtcdRestore) { r.Status.Succeeded = true }),
		"one that is being deleted":    asked(func(r *etcdv1beta2.EtcdRestore) { r.DeletionTimestamp = &metav1.Time{Time: noon} }),
		"one of a cluster that sleeps": asked(none).asks(hibernates),
		"one that was done": asked(none).asks(func(c *etcdv1beta2.EtcdCluster) {
			c.Status.Lineage = "uid-of-restore"
			c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: "uid-of-restore", Phase: etcdv1beta2.PhaseRestored}
		}),
		"one behind pods of an earlier one":             func() world { w := asked(none); w.others.pods = []*corev1.Pod{{}}; return w }(),
		"one of a cluster that is paused by annotation": pausedNow(asked(none)),
	} {
		if w.takesUp(w.c) {
			t.Errorf("expected %s to be left alone", name)
		}
	}
}

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
		len(got.Membership) != 1 || got.Restore.Revision != 1_000_000_042 || got.FormedWith != "3.5.35" {
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

func TestWhatKeepsARestoreFromGoingOnIsToldAndTheClusterStaysWhatItIs(t *testing.T) {
	begun := func() world { return observed(newCluster(), 3).wantsRestore().takenUp() }
	lacking := begun()
	lacking.needs = &obstacle{etcdv1beta2.ReasonSecretMissing, "s3.awsSecret: there is no Secret aws"}
	senseless := begun()
	senseless.restore.Spec.Object = "somebody-elses"
	const stays = "; until it serves the cluster stays what it is"
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"no pod yet":        {begun(), "False Restoring: EtcdRestore example: the pod of member " + begun().seed(begun().c).name + " is being made" + stays},
		"no Secret":         {lacking, "False SecretMissing: EtcdRestore example: s3.awsSecret: there is no Secret aws" + stays},
		"an object of none": {senseless, `False InvalidSpec: EtcdRestore example: "somebody-elses" is no backup of the path "backups/example"` + stays},
		"it reads":          {begun().seeded(), "False Restoring: EtcdRestore example: member " + begun().seed(begun().c).name + " reads the backup" + stays},
		"no such object": {begun().seeded().restored(backup.Result{Outcome: backup.Failed, Reason: backup.ReasonObjectMissing, Message: "backups/example does not exist"}),
			"False ObjectMissing: EtcdRestore example: backups/example does not exist" + stays},
		"too new for it": {begun().seeded().restored(backup.Result{Outcome: backup.Succeeded, Object: "backups/example", EtcdVersion: "3.6.16"}),
			"False ImpossibleVersion: EtcdRestore example: backups/example is of etcd 3.6.16, and version 3.5.35 may not read it: set version to 3.6.16 or a newer one" + stays},
		"it starts": {begun().seeded().restored(whole), "False Restoring: EtcdRestore example: member " + begun().seed(begun().c).name + " starts with backups/example" + stays},
	} {
		if got := conditionOf(report(c.world), "Ready"); got != c.want {
			t.Errorf("%s: expected\n%s, got\n%s", name, c.want, got)
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

// What a member is of is told by its name: annotations can be taken away by anybody.
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

// Regression: the volumes of before a restore that was carried through went as those of strangers when another
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

func TestNobodyIsLedToTheRestoredMemberWhileAPodOfTheClusterBeforeServes(t *testing.T) {
	w := observed(newCluster(), 1).hidden(0)
	w.others.pods = []*corev1.Pod{{}}
	w.others.pods[0].Labels = map[string]string{voterLabel: isVoter}
	if d := w.decide(w.c); len(d.show) > 0 {
		t.Error("expected the member to be shown only when the others are gone")
	}
	seed := w.pods[memberName(w.c, 0)]
	seed.Annotations[startAnnotation] = startOf(etcdgate.Restored, id(0))
	for _, patch := range (&reconciler{}).Plan(w.c, w.facts, noon).Patches {
		if strings.Contains(string(patch.Data), escaped(voterLabel)) {
			t.Errorf("expected it not to be shown when it is established either, got %s", patch.Data)
		}
	}
	seed.Annotations[startAnnotation] = startOf(etcdgate.Established, id(0))
	w.others.pods[0].DeletionTimestamp = &metav1.Time{Time: noon.Add(30 * time.Second)} // when its grace is over
	if d := w.decide(w.c); len(d.show) > 0 {
		t.Error("expected the member not to be shown while the others are ending")
	}
	if got := conditionOf(report(w), etcdv1beta2.EtcdClusterAvailable); !strings.HasPrefix(got, "False Restoring: ") {
		t.Errorf("expected the cluster not to be called available before anybody is led to it, got %s", got)
	}
	w.others.pods[0].DeletionTimestamp = &metav1.Time{Time: noon}
	if d := w.decide(w.c); len(d.show) != 1 {
		t.Error("expected the member to be shown when the grace of the others has passed")
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

// replaced is after the cluster has gone over, with pods of before on silent nodes, deleted a minute ago.
func replaced(voters int32, silent ...int64) world {
	w := observed(newCluster(func(c *etcdv1beta2.EtcdCluster) {
		c.Status.Restore = &etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseRestored, UID: "r", Serial: 20, FormerVoters: voters}
		c.Status.Lineage = "r"
	}), 0).with(20, false)
	w.view.Status[id(20)] = etcd.MemberStatus{ID: id(20), Leader: id(20), Version: "3.5.35"}
	for _, serial := range silent {
		w = w.silent(serial, time.Second)
		pod := &corev1.Pod{}
		pod.Name, pod.Spec.NodeName = memberName(w.c, serial), "node-"+strconv.FormatInt(serial, 10)
		pod.Labels = map[string]string{voterLabel: isVoter}
		pod.DeletionTimestamp = &metav1.Time{Time: noon.Add(-time.Minute)}
		w.others.pods = append(w.others.pods, pod)
	}
	return w.hidden(20)
}

func (w world) outOfService(serial int64) world {
	w.nodes["node-"+strconv.FormatInt(serial, 10)] = node{silentSince: noon.Add(-time.Hour), outOfService: true}
	return w
}

func (w world) heard(serial int64) world {
	w.nodes["node-"+strconv.FormatInt(serial, 10)] = node{}
	return w
}

func (w world) nodeGone(serial int64) world {
	delete(w.nodes, "node-"+strconv.FormatInt(serial, 10))
	return w
}

// A majority that is cut off serves those who reach it, for as long as nobody ends it.
func TestNobodyIsLedToTheRestoredMemberWhileAMajorityOfBeforeMayRun(t *testing.T) {
	for name, c := range map[string]struct {
		world world
		shown bool
	}{
		"two of three are on silent nodes":           {replaced(3, 0, 1), false},
		"two, of which nobody knows it yet":          {replaced(3, 0, 1).heard(0).heard(1), false},
		"one of three is":                            {replaced(3, 0), true},
		"two of four are":                            {replaced(4, 0, 1), true},
		"the only one is":                            {replaced(1, 0), false},
		"two are, and one of the nodes is vouched":   {replaced(3, 0, 1).outOfService(1), true},
		"two are, and one of the nodes is deleted":   {replaced(3, 0, 1).nodeGone(1), true},
		"two, when nobody noted how many there were": {replaced(0, 0, 1), true},
	} {
		d := c.world.decide(c.world.c)
		if shown := len(d.show) > 0; shown != c.shown {
			t.Errorf("%s: expected clients to be led to the restored member: %t, got %t", name, c.shown, shown)
		}
		got := conditionOf(report(c.world), etcdv1beta2.EtcdClusterAvailable)
		if strings.Contains(got, ", and these may: "+memberName(c.world.c, 0)+": ") == c.shown {
			t.Errorf("%s: expected users to be told of the node only if clients wait for it, got %s", name, got)
		}
	}
	if w := replaced(3, 0, 1).wantsRestore(); w.takesUp(w.c) {
		t.Error("expected another restore to wait until it is known how many of before there may be")
	}
}

func TestTheClusterDoesNotGoOverWhileAMajorityOfItIsCutOff(t *testing.T) {
	silent := func(serials ...int64) world {
		w := observed(newCluster(), 3).down(0, 1, 2).wantsRestore().takenUp().seeded().restored(whole).serving()
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
		r := reading(t, nil, []client.Object{c.world.restore, c.world.others.pods[0]})
		c.world.seedIsLive = false
		if err := r.confirmSeed(t.Context(), c.world.c, &c.world.facts); err != nil {
			t.Fatal(err)
		}
		got := report(c.world)
		if over := got.Status.Lineage != ""; over != c.over {
			t.Errorf("%s: expected the cluster to go over: %t, got %t", name, c.over, over)
		}
		ready := conditionOf(got, "Ready")
		if strings.Contains(ready, "they may decide where nobody hears of it; "+memberName(c.world.c, 0)+": its node node-0 is silent") == c.over {
			t.Errorf("%s: expected users to be told of the node only if it waits for it, got %s", name, ready)
		}
		if c.over && got.Status.Restore.FormerVoters != 3 {
			t.Errorf("%s: expected it to be noted that three voted, got %+v", name, got.Status.Restore)
		}
	}
}

func unfit(w world) world {
	w.unfit = &obstacle{etcdv1beta2.ReasonSecretMissing, "s3.awsSecret: there is no Secret aws"}
	return w
}

func TestARestoreThatCannotBeginHoldsNothingUp(t *testing.T) {
	w := unfit(observed(newCluster(withClaims), 3).wantsRestore())
	if w.takesUp(w.c) || w.again(w.c, w.decide(w.c)) == 0 {
		t.Error("expected the cluster to go on as it is, and to look again")
	}
	if got := conditionOf(report(w), "Ready"); !strings.HasPrefix(got, "True ") {
		t.Errorf("expected a cluster that is well to say so, got %s", got)
	}
	if w := unfit(recovering().wantsRestore()); w.isCalledOff(w.c) {
		t.Error("expected a recovery to go on")
	}
	if w := unfit(observed(newCluster(unformed), 0).wantsRestore()); !w.takesUp(w.c) {
		t.Error("expected a cluster that is to begin with the backup to wait for it")
	}
}

func TestWhatARestoreLacksIsLookedForBeforeItIsTakenUp(t *testing.T) {
	secret := &corev1.Secret{}
	secret.Name = "aws"
	for name, c := range map[string]struct {
		world world
		live  []client.Object
		want  bool
	}{
		"there is no Secret": {observed(newCluster(withClaims), 3).wantsRestore(), nil, true},
		"there is":           {observed(newCluster(withClaims), 3).wantsRestore(), []client.Object{secret}, false},
		"it was taken up":    {observed(newCluster(withClaims), 3).wantsRestore().takenUp(), nil, false},
		"there is no quorum, and a recovery goes on": {recovering().wantsRestore(), nil, true},
	} {
		secret.Namespace = c.world.c.Namespace
		if err := reading(t, nil, c.live).observeFit(t.Context(), c.world.c, &c.world.facts); err != nil {
			t.Fatal(err)
		}
		if got := c.world.unfit != nil; got != c.want {
			t.Errorf("%s: expected the restore to be told unfit: %t, got %+v", name, c.want, c.world.unfit)
		}
	}
}

func TestWhileARestoreGoesOnPodsThatAreGoneComeBackOnTheirClaims(t *testing.T) {
	lacking := func(w world) world { w.needs = &obstacle{etcdv1beta2.ReasonSecretMissing, "gone"}; return w }
	for name, c := range map[string]struct {
		world world
		want  []int64
	}{
		"all are there":          {observed(newCluster(withClaims), 3).down(0, 1).wantsRestore().takenUp(), nil},
		"two are gone":           {observed(newCluster(withClaims), 3).without(1, 2).wantsRestore().takenUp(), []int64{1, 2}},
		"and the seed is stuck":  {lacking(observed(newCluster(withClaims), 3).without(1, 2).wantsRestore().takenUp()), []int64{1, 2}},
		"one has lost its claim": {observed(newCluster(withClaims), 3).without(1, 2).unclaimed(1).wantsRestore().takenUp(), []int64{2}},
		"they have none":         {observed(newCluster(), 3).without(1, 2).wantsRestore().takenUp(), nil},
		"it is a recovery":       {recovering(), nil},
	} {
		var want, got []string
		for _, serial := range c.want {
			want = append(want, memberName(c.world.c, serial))
		}
		seed := c.world.seed(c.world.c).name
		for _, child := range (&reconciler{}).Plan(c.world.c, c.world.facts, noon).Children {
			if pod, ok := child.Object.(*corev1ac.PodApplyConfiguration); ok && *pod.Name != seed {
				got = append(got, *pod.Name)
				if pod.Annotations[etcdv1beta2.VersionAnnotation] != "3.5.35" || pod.Labels[voterLabel] != isVoter || !strings.HasPrefix(pod.Annotations[startAnnotation], string(etcdgate.Established)) {
					t.Errorf("%s: expected the pod to be what it was, got %+v", name, pod.ObjectMetaApplyConfiguration)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: expected pods %q, got %q", name, want, got)
		}
	}
}

func TestWhileARestoreGoesOnAvailableIsOnlySaidAsFarAsPodsTell(t *testing.T) {
	w := observed(newCluster(withClaims), 3)
	w.c = report(w)
	w = w.wantsRestore().takenUp()
	is := func(want string) {
		t.Helper()
		w.c = report(w)
		if got := conditionOf(w.c, etcdv1beta2.EtcdClusterAvailable); got != want {
			t.Errorf("expected %s, got %s", want, got)
		}
	}
	is("True ClusterAvailable: Cluster available: 3 of 3 voters are healthy, 2 are needed")
	w = w.unprobed(1)
	is("True ClusterAvailable: Cluster available: 3 of 3 voters are healthy, 2 are needed")
	w.pods[memberName(w.c, 1)].Status.Conditions = nil
	delete(w.pods, memberName(w.c, 2))
	is("Unknown Restoring: 1 of 3 pods of voters are ready, 2 are needed; the members are not asked while a restore goes on")
	w.pods[memberName(w.c, 1)].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	is("True ClusterAvailable: Cluster available: 2 of 3 pods of voters are ready, 2 are needed")
}

func TestReadySaysWhoHoldsARestoreThatGoesOn(t *testing.T) {
	begun := func() world { return observed(newCluster(), 3).wantsRestore().takenUp().seeded().restored(whole) }
	paused := func(w world) world {
		return pausedNow(w.asks(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true }))
	}
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"spec.paused":    {paused(begun().serving()), "False Paused: EtcdRestore example: it waits for spec.paused to be taken back"},
		"by annotation":  {pausedNow(begun().serving()), "False Paused: EtcdRestore example: it waits for annotation opcrew.io/paused to be taken back"},
		"spec.hibernate": {begun().serving().asks(hibernates), "False Hibernating: EtcdRestore example: it waits for spec.hibernate to be taken back: until then the cluster does not go over"},
		"while it reads": {pausedNow(begun()), "False Paused: EtcdRestore example: it waits for annotation opcrew.io/paused to be taken back"},
	} {
		c.world.seedIsLive = false
		if err := reading(t, nil, []client.Object{c.world.restore, c.world.others.pods[0]}).confirmSeed(t.Context(), c.world.c, &c.world.facts); err != nil {
			t.Fatal(err)
		}
		got := report(c.world)
		if ready := conditionOf(got, "Ready"); !strings.HasPrefix(ready, c.want) || got.Status.Lineage != "" {
			t.Errorf("%s: expected the cluster to stay, and\n%s, got\n%s", name, c.want, ready)
		}
	}
}
