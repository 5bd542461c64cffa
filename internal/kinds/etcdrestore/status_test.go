// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdrestore

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func newRestore() *etcdv1beta2.EtcdRestore {
	r := &etcdv1beta2.EtcdRestore{}
	r.Namespace, r.Name, r.UID, r.Generation = "data", "example", "uid-of-restore", 1
	r.Spec.EtcdCluster.Name = "example"
	return r
}

type option func(*etcdv1beta2.EtcdCluster)

// of returns the facts about a cluster whose status shows that the restore with this UID is in this phase.
func of(uid, phase string, options ...option) facts {
	c := &etcdv1beta2.EtcdCluster{}
	c.Status.Restore = &etcdv1beta2.RestoreProgress{UID: uid, Phase: phase, Object: "backups/example", Revision: 1_000_000_042, Message: "member example-0 reads the backup"}
	c.Status.Restore.SavedAt = &metav1.Time{Time: noon.Add(-17 * time.Minute)}
	for _, o := range options {
		o(c)
	}
	return facts{cluster: c}
}

// unrecorded removes the time at which the backup was saved.
func unrecorded(c *etcdv1beta2.EtcdCluster) { c.Status.Restore.SavedAt = nil }

func annotated(c *etcdv1beta2.EtcdCluster) {
	c.Annotations = map[string]string{common.PausedAnnotation: "true"}
}

func asleep(c *etcdv1beta2.EtcdCluster) { c.Spec.Hibernate = true }

func unfit(f facts) facts {
	f.unfit, f.why = etcdv1beta2.ReasonSecretMissing, "s3.awsSecret: there is no Secret aws"
	return f
}

func serving(c *etcdv1beta2.EtcdCluster) {
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: etcdv1beta2.EtcdClusterAvailable, Status: metav1.ConditionTrue, Reason: "ClusterAvailable"})
}

func saying(message string) option {
	return func(c *etcdv1beta2.EtcdCluster) { c.Status.Restore.Message = message }
}

func failing(c *etcdv1beta2.EtcdCluster) {
	c.Status.Restore.Reason, c.Status.Restore.Message = "BucketMissing", "S3 bucket backups does not exist"
}

func TestReadyReportsTheProgressOfARestore(t *testing.T) {
	const mine = "uid-of-restore"
	for name, c := range map[string]struct {
		facts     facts
		want      string
		succeeded bool
	}{
		"there is no cluster":                 {facts{}, "False ClusterMissing: EtcdCluster example does not exist; when it is created, it starts with this backup", false},
		"the cluster sleeps":                  {of("", "", asleep), "False ClusterNotReady: EtcdCluster example hibernates; the restore waits until spec.hibernate is false", false},
		"the cluster is paused":               {of("", "", func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true }), "False ClusterNotReady: EtcdCluster example is paused; the restore waits until it is no longer paused", false},
		"it cannot begin":                     {unfit(of("", "")), "False SecretMissing: s3.awsSecret: there is no Secret aws; EtcdCluster example has not started the restore", false},
		"the cluster is paused by annotation": {of("", "", annotated), "False ClusterNotReady: EtcdCluster example is paused; the restore waits until it is no longer paused", false},
		"it is paused in the middle":          {of(mine, etcdv1beta2.PhaseRestoring, annotated), "False ClusterNotReady: EtcdCluster example is paused; the restore waits until it is no longer paused", false},
		"it sleeps in the middle":             {of(mine, etcdv1beta2.PhaseRestoring, asleep), "False ClusterNotReady: EtcdCluster example hibernates; the restore waits until spec.hibernate is false", false},
		"it is paused when it is done":        {of(mine, etcdv1beta2.PhaseRestored, serving, saying(""), annotated), "True Restored: EtcdCluster example serves the data restored from backups/example, saved at 2026-08-01T11:43:00Z; its revisions continue from 1000000042", true},
		"it is not taken up yet":              {facts{cluster: &etcdv1beta2.EtcdCluster{}}, "False Waiting: EtcdCluster example has not started the restore yet", false},
		"another is under way":                {of("uid-of-another", etcdv1beta2.PhaseRestoring), "False Waiting: EtcdCluster example has not started the restore yet: an earlier restore, which was deleted, is canceled first", false},
		"another was called off":              {of("uid-of-another", etcdv1beta2.PhaseAbandoned), "False Waiting: EtcdCluster example has not started the restore yet: the leftovers of an earlier restore must be deleted first", false},
		"another is carried through":          {of("uid-of-another", etcdv1beta2.PhaseRestored, serving), "False Waiting: EtcdCluster example has not started the restore yet: the leftovers of an earlier restore must be deleted first", false},
		"a recovery is under way": {of("uid-of-recovery", etcdv1beta2.PhaseRestoring, func(c *etcdv1beta2.EtcdCluster) {
			c.Status.Restore.Recovery = &etcdv1beta2.QuorumRecovery{}
		}), "False Waiting: EtcdCluster example has not started the restore yet: its recovery from a lost quorum is canceled first", false},
		"it goes on":              {of(mine, etcdv1beta2.PhaseRestoring), "False Restoring: member example-0 reads the backup; the cluster is unchanged until the restored member serves clients", false},
		"it does not go on":       {of(mine, etcdv1beta2.PhaseRestoring, failing), "False BucketMissing: S3 bucket backups does not exist; the cluster is unchanged until the restored member serves clients", false},
		"no client is served yet": {of(mine, etcdv1beta2.PhaseRestored), "False Restoring: EtcdCluster example has switched to the restored member, but does not serve clients yet", false},
		"a quorum was lost since": {of("uid-of-recovery", etcdv1beta2.PhaseRestored, func(c *etcdv1beta2.EtcdCluster) {
			c.Status.Restore.Recovery = &etcdv1beta2.QuorumRecovery{Former: mine}
		}), "True Restored: EtcdCluster example was restored, but has lost its quorum since then; the status of the EtcdCluster describes the recovery from that loss", true},
		"what was restored is served":  {of(mine, etcdv1beta2.PhaseRestored, serving, saying("")), "True Restored: EtcdCluster example serves the data restored from backups/example, saved at 2026-08-01T11:43:00Z; its revisions continue from 1000000042", true},
		"what has no record is served": {of(mine, etcdv1beta2.PhaseRestored, serving, saying(""), unrecorded), "True Restored: EtcdCluster example serves the data restored from backups/example, saved at an unknown time; its revisions continue from 1000000042", true},
		"it was named although a proof had found it corrupt": {
			of(mine, etcdv1beta2.PhaseRestored, serving, saying("a proof has found it corrupt")),
			"True Restored: EtcdCluster example serves the data restored from backups/example, saved at 2026-08-01T11:43:00Z; its revisions continue from 1000000042; a proof has found it corrupt", true,
		},
	} {
		r := newRestore()
		reportAt(r, c.facts, kit.Outcome{}, noon)
		ready := meta.FindStatusCondition(r.Status.Conditions, etcdv1beta2.EtcdRestoreReady)
		if got := fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message); got != c.want || r.Status.Succeeded != c.succeeded || (r.Status.Reason == "") != c.succeeded {
			t.Errorf("%s: expected\n%s, succeeded %t; got\n%s, %+v", name, c.want, c.succeeded, got, r.Status)
		}
	}
}

func TestARestoreByHTTPSaysThatTheBackupTravelsInTheClear(t *testing.T) {
	r := newRestore()
	r.Spec.BackupStorageType, r.Spec.S3 = etcdv1beta2.StorageS3, &etcdv1beta2.S3Source{Path: "a/b", Endpoint: "http://minio:9000"}
	reportAt(r, facts{}, kit.Outcome{}, noon)
	if !meta.IsStatusConditionTrue(r.Status.Conditions, common.ConditionUnencrypted) {
		t.Errorf("expected condition Unencrypted, got %+v", r.Status.Conditions)
	}
}

func TestARestoreStaysSucceededWhateverHappensToTheCluster(t *testing.T) {
	r := newRestore()
	reportAt(r, of("uid-of-restore", etcdv1beta2.PhaseRestored, serving), kit.Outcome{}, noon)
	before := r.DeepCopy()
	reportAt(r, facts{}, kit.Outcome{}, noon.Add(time.Hour))
	if !r.Status.Succeeded || r.Status.Object != before.Status.Object || len(r.Status.Conditions) != 1 || r.Status.Conditions[0].Status != metav1.ConditionTrue {
		t.Errorf("expected the status to stay, got %+v", r.Status)
	}
}

func TestMissingNeedsAreCheckedAgainUntilTheClusterBegins(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := etcdv1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		taken  string
		object string
		again  bool
		want   string
	}{
		"there is no Secret": {"", "", true, etcdv1beta2.ReasonSecretMissing},
		"it makes no sense":  {"", "others", false, etcdv1beta2.ReasonInvalidSpec},
		"it was taken up":    {"uid-of-restore", "", false, ""},
		"one before it was":  {"uid-of-another", "", true, etcdv1beta2.ReasonSecretMissing},
	} {
		r := newRestore()
		r.Spec.BackupStorageType, r.Spec.Object = etcdv1beta2.StorageS3, c.object
		r.Spec.S3 = &etcdv1beta2.S3Source{Path: "backups/example", AWSSecret: "aws"}
		cluster := of(c.taken, etcdv1beta2.PhaseRestored).cluster
		cluster.Namespace, cluster.Name = r.Namespace, r.Name
		tools := &kit.Tools{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster).Build(), Live: fake.NewFakeClient()}
		f, err := (&reconciler{Tools: tools}).Observe(t.Context(), r)
		again := planAt(r, f, noon).Again > 0
		if err != nil || f.unfit != c.want || again != c.again {
			t.Errorf("%s: expected %q, looked for again %t; got %q, %t, %v", name, c.want, c.again, f.unfit, again, err)
		}
	}
}

func TestARestoreIsReconciledWhenItsClusterIsHeld(t *testing.T) {
	is := func(options ...option) *etcdv1beta2.EtcdCluster { return of("", "", options...).cluster }
	for name, c := range map[string]struct {
		now  *etcdv1beta2.EtcdCluster
		want bool
	}{
		"nothing has changed":  {is(), false},
		"it is paused":         {is(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true }), true},
		"paused by annotation": {is(annotated), true},
		"it sleeps":            {is(asleep), true},
		"it has other members": {is(func(c *etcdv1beta2.EtcdCluster) { c.Status.Size = 5 }), false},
	} {
		if got := wentOn.Update(event.UpdateEvent{ObjectOld: is(), ObjectNew: c.now}); got != c.want {
			t.Errorf("%s: expected the restore to look %t, got %t", name, c.want, got)
		}
	}
}
