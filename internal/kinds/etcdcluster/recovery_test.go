// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backup"
	"github.com/opcrew/opcrew/internal/etcd"
	"github.com/opcrew/opcrew/internal/helper/etcdgate"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func automatic(c *etcdv1beta2.EtcdCluster) {
	c.Spec.Recovery = &etcdv1beta2.Recovery{QuorumLoss: etcdv1beta2.RecoveryAutomatic}
}

// lostTwo has members 1 and 2 of three gone with their volumes; member 0 is left, with entry 70 of the log.
func lostTwo(options ...option) world {
	w := observed(newCluster(append([]option{withClaims}, options...)...), 3).applied(70).without(1, 2).unclaimed(1, 2)
	w.view.Decided = etcd.Decided{At: noon.Add(-time.Minute), Index: 68}
	w.backupImage = "opcrew-backup:test"
	return w
}

// savedAs has the cluster have a backup from so long before noon that was seen to be restorable. The older it is the
// higher is its revision, as after a restore.
func (w world) savedAs(name string, before time.Duration, changes ...func(*etcdv1beta2.BackupRecord)) world {
	b := &etcdv1beta2.EtcdBackup{}
	b.Name, b.Namespace = name, w.c.Namespace
	b.Spec.StorageType, b.Spec.S3 = etcdv1beta2.StorageS3, &etcdv1beta2.S3Source{Path: "backups/" + name, AWSSecret: "aws"}
	b.Status.Verified = &etcdv1beta2.BackupRecord{
		Object: "backups/" + name, Revision: int64(before), ClusterID: w.c.Status.ClusterID, SavedAt: &metav1.Time{Time: noon.Add(-before)},
	}
	for _, change := range changes {
		change(b.Status.Verified)
	}
	w.backups = append(w.backups, b)
	return w
}

func of(id string) func(*etcdv1beta2.BackupRecord) {
	return func(r *etcdv1beta2.BackupRecord) { r.ClusterID = id }
}

// descended has a cluster have had another id before.
func descended(c *etcdv1beta2.EtcdCluster) { c.Status.FormerClusterIDs = []string{"00000000000000b0"} }

// plannedRecovery is after the plan was written down.
func (w world) plannedRecovery() world {
	w.c = report(w)
	return w
}

func TestALostQuorumIsPlannedToComeBackFromTheBestThatIsLeft(t *testing.T) {
	n := func(serial int64) string { return memberName(newCluster(), serial) }
	five := func() world {
		return observed(newCluster(withClaims, sized(5)), 5).applied(70, 90, 80).without(3, 4).unclaimed(3, 4)
	}
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"from the only one":                  {lostTwo(), "To go on from member " + n(0) + ", which has entry 70 of the log (no write that was acknowledged before 2026-08-01T11:59:00Z is lost), annotate it with etcd.opcrew.io/recover="},
		"by itself":                          {lostTwo(automatic), "It is about to go on from member " + n(0)},
		"from the furthest":                  {five().without(2).unclaimed(2), "To go on from member " + n(1) + ", which has entry 90"},
		"its node is silent, and it answers": {lostTwo(automatic).silent(0, time.Hour), "It waits for member " + n(0) + ", which has got furthest, to be where it can be read: its node node-0 has not been heard of since"},
		"one of two is silent":               {five().without(2).unclaimed(2).down(1), "It waits for member " + n(1) + ", which still has its data, to answer: container etcd runs"},
		"its pod comes back":                 {five().without(1, 2).unclaimed(2), "It waits for member " + n(1) + ", which still has its data, to answer: its pod is being made"},
		"it was once refused":                {lostTwo().onceRefused(0).unprobed(0), "To go on from member " + n(0) + ", which has entry 70"},
		"what is left is corrupt":            {corrupt(lostTwo(), 0), "It waits for somebody to restore a backup: etcd says that what is left is corrupt"},
		"less than was decided":              {func() world { w := lostTwo(); w.view.Decided.Index = 75; return w }(), "To go on from member " + n(0) + ", which has entry 70 of the log (up to 5 entries from before 2026-08-01T11:59:00Z may be lost, and what was written since)"},
		"nobody has looked":                  {func() world { w := lostTwo(); w.view.Decided = etcd.Decided{}; return w }(), "To go on from member " + n(0) + ", which has entry 70 of the log (the members were not seen with a quorum by this operator, so it is not known what is lost)"},
		"no backup":                          {lostTwo().without(0).unclaimed(0), "It waits for a backup: no EtcdBackup of the cluster has one that was seen to be restorable (spec.verify); restore another one with an EtcdRestore"},
		"the newest backup": {
			lostTwo().without(0).unclaimed(0).savedAs("old", 2*time.Hour).savedAs("new", time.Hour),
			"To go on from EtcdBackup new, object backups/new, saved at 2026-08-01T11:00:00Z (all that was written after 2026-08-01T11:00:00Z is lost), annotate",
		},
		"that of a former lineage": {
			lostTwo(descended).without(0).unclaimed(0).savedAs("old", 2*time.Hour, of("00000000000000b0")),
			"To go on from EtcdBackup old, object backups/old, saved at 2026-08-01T10:00:00Z",
		},
		"none of another cluster": {
			lostTwo(descended).without(0).unclaimed(0).savedAs("old", 2*time.Hour, of("00000000000000ff")),
			"It waits for a backup: no EtcdBackup of the cluster has one that was seen to be restorable (spec.verify) and can be taken: object backups/old of old is of another cluster, 00000000000000ff; restore another one",
		},
		"none of which that is not known": {
			lostTwo().without(0).unclaimed(0).savedAs("old", 2*time.Hour, of("")),
			"It waits for a backup: no EtcdBackup of the cluster has one that was seen to be restorable (spec.verify) and can be taken: object backups/old of old does not tell of which cluster it is",
		},
	} {
		loss := report(c.world).Status.QuorumLoss
		if loss == nil || !strings.HasPrefix(loss.Plan, c.want) {
			t.Errorf("%s: expected\n%s, got\n%+v", name, c.want, loss)
		}
	}
}

func TestAPlanThatIsHeldUpSaysByWhat(t *testing.T) {
	hangs := func(w world) world {
		pod := &corev1.Pod{}
		pod.Name, pod.DeletionTimestamp = memberName(w.c, 19), &metav1.Time{Time: noon}
		w.c.Status.Restore = &etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseAbandoned, Serial: 19}
		w.others.pods = append(w.others.pods, pod)
		return w
	}
	paused := func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true }
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"paused":                {pausedNow(lostTwo(automatic)), "annotation opcrew.io/paused holds that up"},
		"paused by its spec":    {pausedNow(lostTwo(automatic, paused)), "spec.paused holds that up"},
		"paused, by annotation": {pausedNow(lostTwo()), "; annotation opcrew.io/paused holds that up"},
		"an old seed hangs":     {hangs(lostTwo(automatic)), "what an earlier restore has left (pod " + memberName(newCluster(), 19) + ") holds that up"},
		"it is to hibernate":    {emptied(automatic, hibernates), "spec.hibernate holds that up"},
	} {
		plan := report(c.world).Status.QuorumLoss.Plan
		if !strings.HasSuffix(plan, c.want) || strings.Contains(plan, "about to") {
			t.Errorf("%s: expected to be told that %s, got %s", name, c.want, plan)
		}
		if at := report(c.world.plannedRecovery()).Status.Restore; at != nil && at.Recovery != nil {
			t.Errorf("%s: expected it not to be taken up, got %+v", name, at)
		}
	}
}

// emptied has lost two of three pods with their emptyDirs.
func emptied(options ...option) world {
	return observed(newCluster(options...), 3).applied(70).without(1, 2)
}

func corrupt(w world, serial int64) world {
	status := w.view.Status[w.id(serial)]
	status.Errors = []string{"memberID:256 alarm:CORRUPT"}
	w.view.Status[w.id(serial)] = status
	return w
}

// Members that are only cut off may decide among themselves, and serve clients, where the operator sees nothing.
func TestAQuorumThatMayRunSomewhereIsNotGivenUp(t *testing.T) {
	all := func() world { w := observed(newCluster(withClaims, automatic), 3).applied(70); return w }
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"their nodes are silent for long":     {all().silent(1, time.Hour).silent(2, time.Hour).down(1, 2), "is silent, and may still run it: when the machine is off, taint the node node.kubernetes.io/out-of-service=:NoExecute, or delete it"},
		"one is gone, the other's is silent":  {all().without(1).unclaimed(1).silent(2, time.Hour).down(2), "is silent, and may still run it"},
		"refused before they were cut off":    {all().refused(1, etcdgate.VolumeLost).refused(2, etcdgate.VolumeLost).silent(1, time.Minute).silent(2, time.Minute), "is silent, and may still run it"},
		"their claims are gone, pods are not": {all().unclaimed(1, 2).down(1, 2), "its pod is still there, on node node-1"},
	} {
		at := report(c.world).Status
		if at.Restore != nil || at.QuorumLoss == nil || at.QuorumLoss.Digest != "" || !strings.Contains(at.QuorumLoss.Plan, c.want) {
			t.Errorf("%s: expected no plan to be carried out, got %+v, %+v", name, at.QuorumLoss, at.Restore)
		}
	}
	for name, w := range map[string]world{
		"they are only down":           all().down(1, 2),
		"the gate refused them once":   all().onceRefused(0, 1, 2).savedAs("old", 5).down(0, 1, 2),
		"their pods are made anew":     all().without(1, 2),
		"their nodes are silent a bit": all().silent(1, time.Minute).silent(2, time.Minute).down(1, 2),
	} {
		if loss := report(w).Status.QuorumLoss; loss != nil {
			t.Errorf("%s: expected no loss to be told, got %+v", name, loss)
		}
	}
}

// A cloud that takes nodes back deletes their Nodes. Kubernetes ends the pods a while later; until then they look
// as if they were gone for good, and their volumes are as they were.
func TestMembersWhoseVolumesAreIntactComeBackWhenTheirNodesAreGone(t *testing.T) {
	w := observed(newCluster(withClaims, automatic), 3).applied(70).savedAs("old", 5).serverless(0, 1, 2).plannedRecovery()
	if loss := w.c.Status.QuorumLoss; loss == nil || loss.Digest != "" || !strings.Contains(loss.Plan, "No plan is needed: enough members can still come back; ") {
		t.Errorf("expected no plan, and to be told what is waited for, got %+v", loss)
	}
	if at := report(w).Status.Restore; at != nil {
		t.Errorf("expected nothing to be recovered, got %+v", at)
	}
	ended := w.without(0, 1, 2)
	if children := (&reconciler{}).Plan(ended.c, ended.facts, noon).Children; podsIn(children) != 3 {
		t.Errorf("expected the members to be made anew on their claims, got %d pods", podsIn(children))
	}
}

func podsIn(children []ensure.Child) int {
	n := 0
	for _, child := range children {
		if _, is := child.Object.(*corev1ac.PodApplyConfiguration); is {
			n++
		}
	}
	return n
}

func TestAVolumeOnANodeThatIsGoneIsLostWhenItsMemberCannotBePlaced(t *testing.T) {
	three := func() world { return observed(newCluster(withClaims), 3).applied(70) }
	off, silent := &node{silentSince: noon.Add(-time.Hour), outOfService: true}, &node{silentSince: noon.Add(-time.Hour)}
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"their nodes are deleted":          {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, nil), "To go on from member " + memberName(newCluster(), 0)},
		"their nodes are out of service":   {three().unplaced(1, time.Hour, off).unplaced(2, time.Hour, off), "To go on from member " + memberName(newCluster(), 0)},
		"they may be started anew":         {three().unplaced(1, time.Hour, off).unplaced(2, time.Minute, off), "No plan is needed: enough members can still come back; " + memberName(newCluster(), 2) + ": node node-2, which has its volume, is gone or out of service: it is given up when its pod could not be placed for 5m0s, or when its claim is deleted"},
		"the last one's volume is intact":  {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, nil).serverless(0).savedAs("old", 5), "It waits for member " + memberName(newCluster(), 0) + ", which still has its data, to answer"},
		"the last one's node is silent":    {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, nil).silent(0, time.Hour).down(0).savedAs("old", 5), "It waits for member " + memberName(newCluster(), 0) + ", which still has its data, to answer"},
		"one is only silent":               {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, silent), ""},
		"it cannot be placed for its size": {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, &node{}), ""},
	} {
		got := ""
		if loss := report(c.world).Status.QuorumLoss; loss != nil {
			got = loss.Plan
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: expected %q, got %q", name, c.want, got)
		}
	}
}

func TestOnlyAVolumeOnTheDiskOfANodeIsBoundToIt(t *testing.T) {
	term := func(key string, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}
	}
	for name, c := range map[string]struct {
		terms []corev1.NodeSelectorTerm
		want  string
	}{
		"on any node":              {nil, ""},
		"on one":                   {[]corev1.NodeSelectorTerm{term(corev1.LabelHostname, "a")}, "a"},
		"on one of two":            {[]corev1.NodeSelectorTerm{term(corev1.LabelHostname, "a"), term(corev1.LabelHostname, "b")}, "a b"},
		"in a zone":                {[]corev1.NodeSelectorTerm{term(corev1.LabelTopologyZone, "a")}, ""},
		"on one or those in zones": {[]corev1.NodeSelectorTerm{term(corev1.LabelHostname, "a"), term(corev1.LabelTopologyZone, "b")}, ""},
	} {
		volume := &corev1.PersistentVolume{}
		if c.terms != nil {
			volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: c.terms}}
		}
		if got := strings.Join(homesOf(volume), " "); got != c.want {
			t.Errorf("%s: expected it to be bound to %q, got %q", name, c.want, got)
		}
	}
}

func annotated(value string) option {
	return func(c *etcdv1beta2.EtcdCluster) {
		c.Annotations = map[string]string{etcdv1beta2.RecoverAnnotation: value}
	}
}

func TestAPlanIsCarriedOutWhenItStandsInTheStatusAndIsWanted(t *testing.T) {
	digest := lostTwo().plannedRecovery().c.Status.QuorumLoss.Digest
	for name, c := range map[string]struct {
		world world
		want  bool
	}{
		"nobody wants it":                 {lostTwo().plannedRecovery(), false},
		"another plan was meant":          {lostTwo().plannedRecovery().asks(annotated("0123456789ab")), false},
		"it was annotated":                {lostTwo().plannedRecovery().asks(annotated(digest)), true},
		"automatic":                       {lostTwo(automatic).plannedRecovery(), true},
		"automatic, and somebody says no": {lostTwo(automatic).plannedRecovery().asks(annotated("no")), false},
		"automatic, not yet written":      {lostTwo(automatic), false},
		"automatic, and paused":           {pausedNow(lostTwo(automatic).plannedRecovery()), false},
		"automatic, out of date":          {stale(lostTwo(automatic).plannedRecovery()), false},
		"a restore is asked for":          {lostTwo(automatic).plannedRecovery().wantsRestore(), true},
		"the members are back":            {observed(lostTwo(automatic).plannedRecovery().c, 3), false},
		"a claim is back":                 {lostTwo(automatic).plannedRecovery().claimed(1), false},
		"what is left of one is there":    {func() world { w := lostTwo(automatic).plannedRecovery(); w.others.pods = []*corev1.Pod{{}}; return w }(), false},
	} {
		at := report(c.world).Status.Restore
		if taken := at != nil; taken != c.want || c.world.takesUp(c.world.c) != c.want {
			t.Errorf("%s: expected it to be taken up %t, got %+v", name, c.want, at)
		}
	}
	if at := report(lostTwo(automatic).plannedRecovery().wantsRestore()).Status.Restore; at.Recovery != nil || at.UID != "uid-of-restore" {
		t.Errorf("expected the restore that somebody asks for to come first, got %+v", at)
	}
}

// claimed has the claim of a member be there.
func (w world) claimed(serial int64) world {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name, claim.Namespace, claim.Status.Phase = memberName(w.c, serial), w.c.Namespace, corev1.ClaimBound
	w.claims[claim.Name] = claim
	return w
}

func recovering() world {
	return lostTwo(automatic).plannedRecovery().takenUp()
}

func TestTheSeedOfARecoveryTakesOverWhatTheMemberHolds(t *testing.T) {
	w := recovering()
	plan := (&reconciler{}).Plan(w.c, w.facts, noon)
	pod := w.seedPod(w.c, w.seed(w.c))
	order, err := backup.ParseOrder(pod.Annotations[orderAnnotation])
	if err != nil || len(plan.Prune) > 0 || plan.Step != nil {
		t.Fatalf("expected a seed and nothing else, got %v, %+v", err, plan)
	}
	from := order.Restore.From
	if from == nil || from.Endpoint != w.c.ClientURL(memberName(w.c, 0)) || from.ClusterID != "00000000000000c1" || from.Index != 70 || order.Restore.Bump() != backup.DefaultBump {
		t.Errorf("expected the data of member 0, with the revision raised, got %+v", order.Restore)
	}
	if order.Restore.Token == string(w.c.UID) || !strings.HasPrefix(order.Restore.Token, string(w.c.UID)+"/") {
		t.Errorf("expected a cluster of another id, got token %s", order.Restore.Token)
	}
}

func TestARecoveryThatIsDoneSaysWhatMayBeLost(t *testing.T) {
	w := recovering().seeded().restored(backup.Result{Outcome: backup.Succeeded, Revision: 42, RestoredRevision: 1_000_000_042}).serving()
	s := report(w).Status
	const bound = "no write that was acknowledged before 2026-08-01T11:59:00Z is lost"
	if !slices.Equal(s.FormerClusterIDs, []string{"00000000000000c1"}) {
		t.Errorf("expected the id that it had to be remembered, got %v", s.FormerClusterIDs)
	}
	if s.Lineage == "" || s.Lineage != s.Restore.UID || s.ClusterID != "00000000000000c2" || s.QuorumLoss != nil || s.Restore.Recovery.MayBeLost != bound || !strings.Contains(s.Restore.Message, "at revision 1000000042: "+bound) {
		t.Errorf("expected the cluster to be the seed's, and the bound to be told, got %+v, %+v, %+v", s, s.Restore, s.Restore.Recovery)
	}
}

func TestARecoveryIsCalledOffWhenItIsNotNeededOrCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w world) world
		want   bool
	}{
		"it goes on":                      {func(w world) world { return w }, false},
		"a lost claim is back":            {func(w world) world { return w.claimed(1) }, true},
		"its node is silent for a moment": {func(w world) world { return w.silent(0, time.Minute) }, false},
		"its node is silent for too long": {func(w world) world { return w.silent(0, time.Hour) }, true},
		"its node is silent, and its data is taken over": {func(w world) world {
			return w.seeded().restored(backup.Result{Outcome: backup.Succeeded}).silent(0, time.Hour)
		}, false},
		"somebody says no":                   {func(w world) world { return w.asks(annotated("no")) }, true},
		"the member that is left is deleted": {func(w world) world { return w.without(0) }, true},
		"its data is taken over by then": {func(w world) world {
			return w.seeded().restored(backup.Result{Outcome: backup.Succeeded}).without(0)
		}, false},
		"somebody asks for a restore": {func(w world) world { return w.wantsRestore() }, true},
		"the restore asked for is done": {func(w world) world {
			w = w.wantsRestore()
			w.restore.Status.Succeeded = true
			return w
		}, false},
	} {
		w := c.change(recovering())
		if got := w.isCalledOff(w.c); got != c.want {
			t.Errorf("%s: expected called off %t, got %t", name, c.want, got)
		}
	}
	w := recovering().seeded().claimed(1)
	s := report(w).Status
	if s.Restore.Phase != etcdv1beta2.PhaseAbandoned || s.Lineage != "" {
		t.Errorf("expected the cluster to be what it was, got %+v", s.Restore)
	}
	again := w
	again.c, again.others = report(w), others{}
	delete(again.claims, memberName(w.c, 1))
	if at := report(again.plannedRecovery()).Status.Restore; at.Phase != etcdv1beta2.PhaseRestoring || at.UID == w.c.Status.Restore.UID || at.Serial <= w.c.Status.Restore.Serial {
		t.Errorf("expected another try to be another lineage, got %+v after %+v", at, w.c.Status.Restore)
	}
}

// lostAll has nothing be left but backups.
func lostAll() world { return lostTwo(automatic).without(0).unclaimed(0) }

func TestABackupThatIsGoneIsNotWaitedForButAnotherIsTaken(t *testing.T) {
	gone := backup.Result{Outcome: backup.Failed, Reason: backup.ReasonObjectMissing, Message: "there is no backup"}
	w := lostAll().savedAs("old", 2*time.Hour).savedAs("new", time.Hour).plannedRecovery().takenUp()
	if w.isCalledOff(w.c) || w.seeded().restored(backup.Result{Outcome: backup.Failed, Reason: backup.ReasonStoreUnreachable}).isCalledOff(w.c) {
		t.Fatal("expected a store that is away to be waited for")
	}
	for _, want := range []string{"backups/old", ""} {
		found := w.seeded().restored(gone)
		w.c = report(found)
		if w.c.Status.Restore.Phase != etcdv1beta2.PhaseAbandoned {
			t.Fatalf("expected the recovery to be called off, got %+v", w.c.Status.Restore)
		}
		w.others = others{}
		w = w.plannedRecovery()
		if want == "" {
			break
		}
		if w = w.takenUp(); w.c.Status.Restore.Recovery == nil || w.c.Status.Restore.Recovery.Object != want {
			t.Fatalf("expected %s to be taken, got %+v", want, w.c.Status.Restore.Recovery)
		}
	}
	const words = "object backups/old of old was found to be gone or broken, object backups/new of new was found to be gone or broken; restore another one"
	if loss := w.c.Status.QuorumLoss; loss.Digest != "" || !strings.Contains(loss.Plan, words) {
		t.Errorf("expected nobody to be asked for what is gone, and to be told %q, got %+v", words, loss)
	}
}

func TestOfARecoveryUsersHear(t *testing.T) {
	w := lostTwo(automatic).plannedRecovery()
	taken := w.takenUp()
	done := taken.seeded().restored(backup.Result{Outcome: backup.Succeeded, Revision: 42}).serving()
	var got []string
	for _, pair := range [][2]*etcdv1beta2.EtcdCluster{{w.c, taken.c}, {taken.c, report(taken)}, {taken.c, report(done)}} {
		for _, e := range (&reconciler{}).Tell(pair[0], pair[1]) {
			got = append(got, e.Reason)
		}
	}
	if strings.Join(got, " ") != "Recovering Recovered" {
		t.Errorf("expected one event when it begins and one when it is done, got %q", got)
	}
}

func TestHowFarAClusterHadGotStaysKnown(t *testing.T) {
	w := lostTwo().plannedRecovery()
	w.view.Decided = etcd.Decided{}
	w.view.Err = errors.New("no leader")
	again := report(w).Status.QuorumLoss
	if again.LastQuorum == nil || !again.LastQuorum.Equal(&metav1.Time{Time: noon.Add(-time.Minute)}) || again.LastIndex != 68 {
		t.Errorf("expected what was known when the quorum went to stay known, got %+v", again)
	}
}

// An operator that went with a node took what it had seen with it.
func TestHowFarAClusterHadGotIsKnownToAnOperatorThatBeginsLater(t *testing.T) {
	w := observed(newCluster(withClaims), 3).applied(70)
	w.c = report(w)
	w.view.Decided = etcd.Decided{At: noon.Add(-time.Minute), Index: 68}
	if rested := report(w); rested.Status.Decided != nil {
		t.Errorf("expected nothing to be noted while nothing else changes, got %+v", rested.Status.Decided)
	}
	w.c = report(w.unprobed(1))
	if at := w.c.Status.Decided; at == nil || at.Index != 68 || !at.Time.Equal(&metav1.Time{Time: noon.Add(-time.Minute)}) {
		t.Fatalf("expected it to be noted when a member is not ready any more, got %+v", at)
	}
	w.view.Decided = etcd.Decided{}
	w = w.without(1, 2).unclaimed(1, 2)
	if loss := report(w).Status.QuorumLoss; loss == nil || loss.LastIndex != 68 || !strings.Contains(loss.Plan, "(no write that was acknowledged before 2026-08-01T11:59:00Z is lost)") {
		t.Errorf("expected the bound to be from what was noted, got %+v", loss)
	}
	w = recovering().seeded()
	w.view.ClusterID, w.view.Decided = 0xc2, etcd.Decided{At: noon, Index: 3}
	if at := report(w).Status.Decided; at == nil || at.Index != 68 {
		t.Errorf("expected nothing to be noted of how far a seed is, got %+v", at)
	}
}

// An EtcdRestore that was carried out learns it from the status, which tells of the recovery now.
func TestARestoreFromBeforeARecoveryIsNotCarriedOutAgain(t *testing.T) {
	w := lostTwo(automatic)
	w.c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: "uid-of-restore", Phase: etcdv1beta2.PhaseRestored, Serial: 0}
	w = w.plannedRecovery().wantsRestore().takenUp()
	if w.c.Status.Restore.Recovery == nil || w.isCalledOff(w.c) {
		t.Fatalf("expected the recovery to be taken up, and to go on, got %+v", w.c.Status.Restore)
	}
	w.c.Status.Restore.Phase = etcdv1beta2.PhaseRestored
	again := w.plannedRecovery().takenUp()
	if w.takesRestore(w.c) || again.c.Status.Restore.Recovery.Former != "uid-of-restore" {
		t.Errorf("expected it to stay done, also after another recovery, got %+v", again.c.Status.Restore.Recovery)
	}
}

// Without claims the pod of the member that is left is its data, and the seed's has the only copy.
func TestWithoutClaimsTheMemberThatARecoveryWentOnFromStaysUntilAQuorumHasItsData(t *testing.T) {
	over := func(options ...option) world {
		w := observed(newCluster(options...), 1)
		survivor := w.pods[memberName(w.c, 0)]
		delete(w.pods, survivor.Name)
		w.view.Members, w.view.Status = nil, map[uint64]etcd.MemberStatus{}
		w.others.pods = []*corev1.Pod{survivor}
		w.c.Status.Lineage, w.c.Status.Restore = "d-19", &etcdv1beta2.RestoreProgress{
			Phase: etcdv1beta2.PhaseRestored, UID: "d-19", Serial: 19, Recovery: &etcdv1beta2.QuorumRecovery{Member: survivor.Name},
		}
		return w.with(19, false)
	}
	another := func(w world) world { w.c.Status.Restore.Recovery.Member = memberName(w.c, 1); return w }
	asked := func(w world) world { w.c.Status.Restore.Recovery = nil; return w }
	for name, c := range map[string]struct {
		world         world
		stays, hidden bool
	}{
		"the seed alone has its data":     {over(), true, true},
		"a second member has joined":      {over().with(20, false), false, false},
		"a second member learns":          {over().with(20, true), true, true},
		"the second member is down":       {over().with(20, false).down(20), true, true},
		"there is to be only one":         {over(sized(1)), false, false},
		"with claims":                     {over(withClaims), false, false},
		"it is not the one that was read": {another(over()), false, false},
		"it was a restore":                {asked(over()), false, false},
	} {
		for _, status := range c.world.view.Status {
			if status.Err == nil {
				status.Leader = id(19)
				c.world.view.Status[status.ID] = status
			}
		}
		plan := (&reconciler{}).Plan(c.world.c, c.world.facts, noon)
		survivor := c.world.others.pods[0]
		if stays := plan.Stays(survivor); stays != c.stays {
			t.Errorf("%s: expected the pod of before to stay: %t, got %t", name, c.stays, stays)
		}
		hidden := slices.ContainsFunc(plan.Patches, func(p kit.Patch) bool {
			return p.Object.GetName() == survivor.Name && strings.Contains(string(p.Data), escaped(voterLabel))
		})
		if hidden != c.hidden {
			t.Errorf("%s: expected clients to be kept from it: %t, got %t", name, c.hidden, hidden)
		}
		survivor.Labels[voterLabel] = isFormer
		if c.stays && c.world.formerServes(c.world.c) {
			t.Errorf("%s: expected clients to be led to the seed meanwhile", name)
		}
	}
}
