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

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/lineage"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

func automatic(c *etcdv1beta2.EtcdCluster) {
	c.Spec.Recovery = &etcdv1beta2.Recovery{QuorumLoss: etcdv1beta2.RecoveryAutomatic}
}

// lostTwo returns a cluster that has lost members 1 and 2 of three, with their volumes. Member 0 remains, with log
// entries up to 70.
func lostTwo(options ...clustertest.Option) world {
	w := observed(clustertest.New(append([]clustertest.Option{clustertest.WithClaims}, options...)...), 3).applied(70).without(1, 2).unclaimed(1, 2)
	w.view.Decided = etcd.Decided{At: clustertest.Noon.Add(-time.Minute), Index: 68}
	w.backupImage = "opcrew-backup:test"
	return w
}

// savedAs adds a verified backup of the cluster that was saved the given time before noon. Older backups get higher
// revisions, as can happen after a restore.
func (w world) savedAs(name string, before time.Duration, changes ...func(*etcdv1beta2.BackupRecord)) world {
	b := &etcdv1beta2.EtcdBackup{}
	b.Name, b.Namespace = name, w.c.Namespace
	b.Spec.StorageType, b.Spec.S3 = etcdv1beta2.StorageS3, &etcdv1beta2.S3Source{Path: "backups/" + name, AWSSecret: "aws"}
	b.Status.Verified = &etcdv1beta2.BackupRecord{
		Object: "backups/" + name, Revision: int64(before), ClusterID: w.c.Status.ClusterID, SavedAt: &metav1.Time{Time: clustertest.Noon.Add(-before)},
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

// descended records in the status that the cluster had another ID before a restore.
func descended(c *etcdv1beta2.EtcdCluster) { c.Status.FormerClusterIDs = []string{"00000000000000b0"} }

// plannedRecovery writes the status, so that it shows the plan for the recovery.
func (w world) plannedRecovery() world {
	w.c = reported(w)
	return w
}

func TestALostQuorumIsPlannedToComeBackFromTheBestThatIsLeft(t *testing.T) {
	n := func(serial int64) string { return model.MemberName(clustertest.New(), serial) }
	five := func() world {
		return observed(clustertest.New(clustertest.WithClaims, clustertest.Sized(5)), 5).applied(70, 90, 80).without(3, 4).unclaimed(3, 4)
	}
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"from the only one":                  {lostTwo(), "To recover from member " + n(0) + ", which has the log up to entry 70 (no write that was acknowledged before 2026-08-01T11:59:00Z is lost), annotate the EtcdCluster with etcd.opcrew.io/recover="},
		"by itself":                          {lostTwo(automatic), "opcrew is about to recover from member " + n(0)},
		"from the furthest":                  {five().without(2).unclaimed(2), "To recover from member " + n(1) + ", which has the log up to entry 90"},
		"its node is silent, and it answers": {lostTwo(automatic).silent(0, time.Hour), "The recovery waits for member " + n(0) + ", which has the most log entries, to become readable: the kubelet of its node node-0 has not reported since"},
		"one of two is silent":               {five().without(2).unclaimed(2).down(1), "The recovery waits for member " + n(1) + ", which still has its data, to respond: container etcd runs"},
		"its pod comes back":                 {five().without(1, 2).unclaimed(2), "The recovery waits for member " + n(1) + ", which still has its data, to respond: its pod is being created"},
		"it was once refused":                {lostTwo().onceRefused(0).unprobed(0), "To recover from member " + n(0) + ", which has the log up to entry 70"},
		"what is left is corrupt":            {corrupt(lostTwo(), 0), "The recovery waits for a user to restore a backup: etcd reports that the data of all remaining members is corrupt"},
		"less than was decided":              {func() world { w := lostTwo(); w.view.Decided.Index = 75; return w }(), "To recover from member " + n(0) + ", which has the log up to entry 70 (up to 5 log entries from before 2026-08-01T11:59:00Z may be lost, and all later writes)"},
		"there was no view":                  {func() world { w := lostTwo(); w.view.Decided = etcd.Decided{}; return w }(), "To recover from member " + n(0) + ", which has the log up to entry 70 (opcrew has not seen the members with a quorum, so it is unknown which writes are lost)"},
		"no backup":                          {lostTwo().without(0).unclaimed(0), "The recovery waits for a backup that was verified as restorable (spec.verify of an EtcdBackup); alternatively, restore another backup with an EtcdRestore"},
		"the newest backup": {
			lostTwo().without(0).unclaimed(0).savedAs("old", 2*time.Hour).savedAs("new", time.Hour),
			"To recover from EtcdBackup new, object backups/new, saved at 2026-08-01T11:00:00Z (all writes after 2026-08-01T11:00:00Z are lost), annotate",
		},
		"that of a former lineage": {
			lostTwo(descended).without(0).unclaimed(0).savedAs("old", 2*time.Hour, of("00000000000000b0")),
			"To recover from EtcdBackup old, object backups/old, saved at 2026-08-01T10:00:00Z",
		},
		"none of another cluster": {
			lostTwo(descended).without(0).unclaimed(0).savedAs("old", 2*time.Hour, of("00000000000000ff")),
			"The recovery waits for a backup that was verified as restorable (spec.verify of an EtcdBackup); these cannot be used: object backups/old of old belongs to another cluster, 00000000000000ff; alternatively, restore another backup",
		},
		"none of which that is not known": {
			lostTwo().without(0).unclaimed(0).savedAs("old", 2*time.Hour, of("")),
			"The recovery waits for a backup that was verified as restorable (spec.verify of an EtcdBackup); these cannot be used: object backups/old of old does not record its cluster",
		},
	} {
		loss := reported(c.world).Status.QuorumLoss
		if loss == nil || !strings.HasPrefix(loss.Plan, c.want) {
			t.Errorf("%s: expected\n%s, got\n%+v", name, c.want, loss)
		}
	}
}

// emptied returns a cluster that has lost two of three pods, with their emptyDirs.
func emptied(options ...clustertest.Option) world {
	return observed(clustertest.New(options...), 3).applied(70).without(1, 2)
}

func corrupt(w world, serial int64) world {
	status := w.view.Status[w.id(serial)]
	status.Errors = []string{"memberID:256 alarm:CORRUPT"}
	w.view.Status[w.id(serial)] = status
	return w
}

// Members that are cut off may still form a quorum and serve clients that opcrew does not see.
func TestAQuorumThatMayRunSomewhereIsNotGivenUp(t *testing.T) {
	all := func() world {
		w := observed(clustertest.New(clustertest.WithClaims, automatic), 3).applied(70)
		return w
	}
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"their nodes are silent for long":     {all().silent(1, time.Hour).silent(2, time.Hour).down(1, 2), "does not report, and may still run the member: once the machine is off, taint the node with node.kubernetes.io/out-of-service=:NoExecute, or delete the node"},
		"one is gone, the other's is silent":  {all().without(1).unclaimed(1).silent(2, time.Hour).down(2), "does not report, and may still run the member"},
		"refused before they were cut off":    {all().refused(1, etcdstart.VolumeLost).refused(2, etcdstart.VolumeLost).silent(1, time.Minute).silent(2, time.Minute), "does not report, and may still run the member"},
		"their claims are gone, pods are not": {all().unclaimed(1, 2).down(1, 2), "its pod still exists on node node-1"},
	} {
		at := reported(c.world).Status
		if at.Restore != nil || at.QuorumLoss == nil || at.QuorumLoss.Digest != "" || !strings.Contains(at.QuorumLoss.Plan, c.want) {
			t.Errorf("%s: expected no plan to be carried out, got %+v, %+v", name, at.QuorumLoss, at.Restore)
		}
	}
	for name, w := range map[string]world{
		"they are only down":           all().down(1, 2),
		"the gate refused them once":   all().onceRefused(0, 1, 2).savedAs("old", 5).down(0, 1, 2),
		"their pods are recreated":     all().without(1, 2),
		"their nodes are silent a bit": all().silent(1, time.Minute).silent(2, time.Minute).down(1, 2),
	} {
		if loss := reported(w).Status.QuorumLoss; loss != nil {
			t.Errorf("%s: expected no loss to be reported, got %+v", name, loss)
		}
	}
}

func annotated(value string) clustertest.Option {
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
		"no user wants it":              {lostTwo().plannedRecovery(), false},
		"another plan was meant":        {lostTwo().plannedRecovery().asks(annotated("0123456789ab")), false},
		"it was annotated":              {lostTwo().plannedRecovery().asks(annotated(digest)), true},
		"automatic":                     {lostTwo(automatic).plannedRecovery(), true},
		"automatic, and a user says no": {lostTwo(automatic).plannedRecovery().asks(annotated("no")), false},
		"automatic, not yet written":    {lostTwo(automatic), false},
		"automatic, and paused":         {pausedNow(lostTwo(automatic).plannedRecovery()), false},
		"automatic, out of date":        {stale(lostTwo(automatic).plannedRecovery()), false},
		"a restore is asked for":        {lostTwo(automatic).plannedRecovery().wantsRestore(), true},
		"the members are back":          {observed(lostTwo(automatic).plannedRecovery().c, 3), false},
		"a claim is back":               {lostTwo(automatic).plannedRecovery().claimed(1), false},
		"what is left of one is there":  {func() world { w := lostTwo(automatic).plannedRecovery(); w.others.Pods = []*corev1.Pod{{}}; return w }(), false},
	} {
		at := reported(c.world).Status.Restore
		if taken := at != nil; taken != c.want || c.world.takesUp(c.world.c) != c.want {
			t.Errorf("%s: expected it to be taken up %t, got %+v", name, c.want, at)
		}
	}
	if at := reported(lostTwo(automatic).plannedRecovery().wantsRestore()).Status.Restore; at.Recovery != nil || at.UID != "uid-of-restore" {
		t.Errorf("expected the restore that a user asks for to come first, got %+v", at)
	}
}

// claimed adds the claim of a member.
func (w world) claimed(serial int64) world {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name, claim.Namespace, claim.Status.Phase = model.MemberName(w.c, serial), w.c.Namespace, corev1.ClaimBound
	w.claims[claim.Name] = claim
	return w
}

func recovering() world {
	return lostTwo(automatic).plannedRecovery().takenUp()
}

func TestTheSeedOfARecoveryTakesOverWhatTheMemberHolds(t *testing.T) {
	w := recovering()
	plan := planAt(w.c, w.facts, clustertest.Noon)
	pod := w.builder(w.c).SeedPod(*w.restoreInput(w.c).Origin(), w.restoreInput(w.c).Seed())
	order, err := backup.ParseOrder(pod.Annotations[build.OrderAnnotation])
	if err != nil || len(plan.Prune) > 0 || plan.Step != nil {
		t.Fatalf("expected a seed and nothing else, got %v, %+v", err, plan)
	}
	from := order.Restore.From
	if from == nil || from.Endpoint != w.c.ClientURL(model.MemberName(w.c, 0)) || from.ClusterID != "00000000000000c1" || from.Index != 70 || order.Restore.Bump() != backup.DefaultBump {
		t.Errorf("expected the data of member 0, with the revision raised, got %+v", order.Restore)
	}
	if order.Restore.Token == string(w.c.UID) || !strings.HasPrefix(order.Restore.Token, string(w.c.UID)+"/") {
		t.Errorf("expected a cluster of another id, got token %s", order.Restore.Token)
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
		"a user says no":                     {func(w world) world { return w.asks(annotated("no")) }, true},
		"the member that is left is deleted": {func(w world) world { return w.without(0) }, true},
		"its data is taken over by then": {func(w world) world {
			return w.seeded().restored(backup.Result{Outcome: backup.Succeeded}).without(0)
		}, false},
		"a user asks for a restore": {func(w world) world { return w.wantsRestore() }, true},
		"the restore asked for is done": {func(w world) world {
			w = w.wantsRestore()
			w.restore.Status.Succeeded = true
			return w
		}, false},
	} {
		w := c.change(recovering())
		if got := w.restoreInput(w.c).IsCalledOff(); got != c.want {
			t.Errorf("%s: expected called off %t, got %t", name, c.want, got)
		}
	}
	w := recovering().seeded().claimed(1)
	s := reported(w).Status
	if s.Restore.Phase != etcdv1beta2.PhaseAbandoned || s.Lineage != "" {
		t.Errorf("expected the cluster to be what it was, got %+v", s.Restore)
	}
	again := w
	again.c, again.others = reported(w), lineage.Others{}
	delete(again.claims, model.MemberName(w.c, 1))
	if at := reported(again.plannedRecovery()).Status.Restore; at.Phase != etcdv1beta2.PhaseRestoring || at.UID == w.c.Status.Restore.UID || at.Serial <= w.c.Status.Restore.Serial {
		t.Errorf("expected another try to be another lineage, got %+v after %+v", at, w.c.Status.Restore)
	}
}

// lostAll returns a cluster that has lost everything except its backups.
func lostAll() world { return lostTwo(automatic).without(0).unclaimed(0) }

func TestABackupThatIsGoneIsNotWaitedForButAnotherIsTaken(t *testing.T) {
	gone := backup.Result{Outcome: backup.Failed, Reason: backup.ReasonObjectMissing, Message: "there is no backup"}
	w := lostAll().savedAs("old", 2*time.Hour).savedAs("new", time.Hour).plannedRecovery().takenUp()
	if w.restoreInput(w.c).IsCalledOff() || w.seeded().restored(backup.Result{Outcome: backup.Failed, Reason: backup.ReasonStoreUnreachable}).restoreInput(w.c).IsCalledOff() {
		t.Fatal("expected a store that is away to be waited for")
	}
	for _, want := range []string{"backups/old", ""} {
		found := w.seeded().restored(gone)
		w.c = reported(found)
		if w.c.Status.Restore.Phase != etcdv1beta2.PhaseAbandoned {
			t.Fatalf("expected the recovery to be called off, got %+v", w.c.Status.Restore)
		}
		w.others = lineage.Others{}
		w = w.plannedRecovery()
		if want == "" {
			break
		}
		if w = w.takenUp(); w.c.Status.Restore.Recovery == nil || w.c.Status.Restore.Recovery.Object != want {
			t.Fatalf("expected %s to be taken, got %+v", want, w.c.Status.Restore.Recovery)
		}
	}
	const words = "object backups/old of old was found to be missing or corrupt, object backups/new of new was found to be missing or corrupt; alternatively, restore another backup"
	if loss := w.c.Status.QuorumLoss; loss.Digest != "" || !strings.Contains(loss.Plan, words) {
		t.Errorf("expected no user to be asked for what is gone, and the plan to say %q, got %+v", words, loss)
	}
}

// An EtcdRestore was carried out, but its own status does not show that yet. In the cluster's status, a later recovery
// has replaced the record of this restore. opcrew must not carry out the EtcdRestore again.
func TestARestoreFromBeforeARecoveryIsNotCarriedOutAgain(t *testing.T) {
	w := lostTwo(automatic)
	w.c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: "uid-of-restore", Phase: etcdv1beta2.PhaseRestored, Serial: 0}
	w = w.plannedRecovery().wantsRestore().takenUp()
	if w.c.Status.Restore.Recovery == nil || w.restoreInput(w.c).IsCalledOff() {
		t.Fatalf("expected the recovery to be taken up, and to go on, got %+v", w.c.Status.Restore)
	}
	w.c.Status.Restore.Phase = etcdv1beta2.PhaseRestored
	again := w.plannedRecovery().takenUp()
	if w.restoreInput(w.c).Begins() || again.c.Status.Restore.Recovery.Former != "uid-of-restore" {
		t.Errorf("expected it to stay done, also after another recovery, got %+v", again.c.Status.Restore.Recovery)
	}
}

// Without claims, only the pod of the old member and the restored member have the data. The old pod must stay until a
// quorum has copied the data.
func TestWithoutClaimsTheMemberThatARecoveryWentOnFromStaysUntilAQuorumHasItsData(t *testing.T) {
	over := func(options ...clustertest.Option) world {
		w := observed(clustertest.New(options...), 1)
		survivor := w.pods[model.MemberName(w.c, 0)]
		delete(w.pods, survivor.Name)
		w.view.Members, w.view.Status = nil, map[uint64]etcd.MemberStatus{}
		w.others.Pods = []*corev1.Pod{survivor}
		w.c.Status.Lineage, w.c.Status.Restore = "d-19", &etcdv1beta2.RestoreProgress{
			Phase: etcdv1beta2.PhaseRestored, UID: "d-19", Serial: 19, Recovery: &etcdv1beta2.QuorumRecovery{Member: survivor.Name},
		}
		return w.with(19, false)
	}
	another := func(w world) world { w.c.Status.Restore.Recovery.Member = model.MemberName(w.c, 1); return w }
	asked := func(w world) world { w.c.Status.Restore.Recovery = nil; return w }
	for name, c := range map[string]struct {
		world         world
		stays, hidden bool
	}{
		"the seed alone has its data":     {over(), true, true},
		"a second member has joined":      {over().with(20, false), false, false},
		"a second member learns":          {over().with(20, true), true, true},
		"the second member is down":       {over().with(20, false).down(20), true, true},
		"there is to be only one":         {over(clustertest.Sized(1)), false, false},
		"with claims":                     {over(clustertest.WithClaims), false, false},
		"it is not the one that was read": {another(over()), false, false},
		"it was a restore":                {asked(over()), false, false},
	} {
		for _, status := range c.world.view.Status {
			if status.Err == nil {
				status.Leader = id(19)
				c.world.view.Status[status.ID] = status
			}
		}
		plan := planAt(c.world.c, c.world.facts, clustertest.Noon)
		survivor := c.world.others.Pods[0]
		if stays := plan.Stays(survivor); stays != c.stays {
			t.Errorf("%s: expected the earlier pod to stay: %t, got %t", name, c.stays, stays)
		}
		hidden := slices.ContainsFunc(plan.Patches, func(p kit.Patch) bool {
			return p.Object.GetName() == survivor.Name && strings.Contains(string(p.Data), jsonpatch.Pointer("metadata", "labels", model.VoterLabel))
		})
		if hidden != c.hidden {
			t.Errorf("%s: expected clients to be kept from it: %t, got %t", name, c.hidden, hidden)
		}
		survivor.Labels[model.VoterLabel] = model.IsFormer
		if c.stays && c.world.lineage(c.world.c, nil).FormerServes() {
			t.Errorf("%s: expected clients to be led to the seed meanwhile", name)
		}
	}
}
