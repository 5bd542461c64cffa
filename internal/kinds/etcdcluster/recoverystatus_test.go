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

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

func TestAPlanThatIsHeldUpSaysByWhat(t *testing.T) {
	hangs := func(w world) world {
		pod := &corev1.Pod{}
		pod.Name, pod.DeletionTimestamp = model.MemberName(w.c, 19), &metav1.Time{Time: clustertest.Noon}
		w.c.Status.Restore = &etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseAbandoned, Serial: 19}
		w.others.Pods = append(w.others.Pods, pod)
		return w
	}
	paused := func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true }
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"paused":                {pausedNow(lostTwo(automatic)), ", but is blocked by annotation opcrew.io/paused"},
		"paused by its spec":    {pausedNow(lostTwo(automatic, paused)), ", but is blocked by spec.paused"},
		"paused, by annotation": {pausedNow(lostTwo()), "; the recovery is also blocked by annotation opcrew.io/paused"},
		"an old seed hangs":     {hangs(lostTwo(automatic)), "blocked by the leftovers of an earlier restore (pod " + model.MemberName(clustertest.New(), 19) + ")"},
		"it is to hibernate":    {emptied(automatic, clustertest.Hibernates), "blocked by spec.hibernate"},
	} {
		plan := reported(c.world).Status.QuorumLoss.Plan
		if !strings.HasSuffix(plan, c.want) || strings.Contains(plan, "about to") {
			t.Errorf("%s: expected the message to say that %s, got %s", name, c.want, plan)
		}
		if at := reported(c.world.plannedRecovery()).Status.Restore; at != nil && at.Recovery != nil {
			t.Errorf("%s: expected it not to be taken up, got %+v", name, at)
		}
	}
}

func TestAnAnnotationThatIsOfNoPlanIsNotIgnoredWithoutAWord(t *testing.T) {
	const says = "annotation etcd.opcrew.io/recover=0123456789ab does not match the current plan"
	digest := lostTwo().plannedRecovery().c.Status.QuorumLoss.Digest
	for name, c := range map[string]struct {
		world world
		want  bool
	}{
		"of another plan":          {lostTwo(annotated("0123456789ab")), true},
		"of a plan that waits":     {lostTwo(annotated("0123456789ab")).down(0), true},
		"of this one":              {lostTwo(annotated(digest)), false},
		"none is to be":            {lostTwo(annotated("no")), false},
		"there is no annotation":   {lostTwo(), false},
		"the members are all well": {observed(clustertest.New(clustertest.WithClaims, annotated("0123456789ab")), 3), false},
	} {
		for _, kind := range []string{etcdv1beta2.EtcdClusterAvailable, etcdv1beta2.EtcdClusterReady} {
			got := conditionOf(reported(c.world), kind)
			if strings.Contains(got, says) != c.want || strings.Contains(got, "does not match the current plan") != c.want {
				t.Errorf("%s: expected it to be said %t in %s, got %s", name, c.want, kind, got)
			}
		}
	}
}

func TestARecoveryThatIsDoneSaysWhatMayBeLost(t *testing.T) {
	w := recovering().seeded().restored(backup.Result{Outcome: backup.Succeeded, Revision: 42, RestoredRevision: 1_000_000_042}).serving()
	s := reported(w).Status
	const bound = "no write that was acknowledged before 2026-08-01T11:59:00Z is lost"
	if !slices.Equal(s.FormerClusterIDs, []string{"00000000000000c1"}) {
		t.Errorf("expected the id that it had to be remembered, got %v", s.FormerClusterIDs)
	}
	if s.Lineage == "" || s.Lineage != s.Restore.UID || s.ClusterID != "00000000000000c2" || s.QuorumLoss != nil || s.Restore.Recovery.MayBeLost != bound || !strings.Contains(s.Restore.Message, "its revisions continue from 1000000042. Data loss: "+bound) {
		t.Errorf("expected the cluster to be the seed's, and the bound to be reported, got %+v, %+v, %+v", s, s.Restore, s.Restore.Recovery)
	}
}

func TestOfARecoveryUsersHear(t *testing.T) {
	w := lostTwo(automatic).plannedRecovery()
	taken := w.takenUp()
	done := taken.seeded().restored(backup.Result{Outcome: backup.Succeeded, Revision: 42}).serving()
	var got []string
	for _, pair := range [][2]*etcdv1beta2.EtcdCluster{{w.c, taken.c}, {taken.c, reported(taken)}, {taken.c, reported(done)}} {
		for _, e := range (&reconciler{}).transitions(pair[0], pair[1]) {
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
	w.view.Err = errors.New("the cluster has no leader")
	again := reported(w).Status.QuorumLoss
	if again.LastQuorum == nil || !again.LastQuorum.Equal(&metav1.Time{Time: clustertest.Noon.Add(-time.Minute)}) || again.LastIndex != 68 {
		t.Errorf("expected what was known when the quorum went to stay known, got %+v", again)
	}
}

// After a restart, the operator learns the last committed log index only from the status, because it keeps its views of
// the members only in memory.
func TestHowFarAClusterHadGotIsKnownToAnOperatorThatBeginsLater(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims), 3).applied(70)
	w.c = reported(w)
	w.view.Decided = etcd.Decided{At: clustertest.Noon.Add(-time.Minute), Index: 68}
	if rested := reported(w); rested.Status.Decided != nil {
		t.Errorf("expected nothing to be noted while nothing else changes, got %+v", rested.Status.Decided)
	}
	w.c = reported(w.unprobed(1))
	if at := w.c.Status.Decided; at == nil || at.Index != 68 || !at.Time.Equal(&metav1.Time{Time: clustertest.Noon.Add(-time.Minute)}) {
		t.Fatalf("expected it to be noted when a member is not ready any more, got %+v", at)
	}
	w.view.Decided = etcd.Decided{}
	w = w.without(1, 2).unclaimed(1, 2)
	if loss := reported(w).Status.QuorumLoss; loss == nil || loss.LastIndex != 68 || !strings.Contains(loss.Plan, "(no write that was acknowledged before 2026-08-01T11:59:00Z is lost)") {
		t.Errorf("expected the bound to be from what was noted, got %+v", loss)
	}
	w = recovering().seeded()
	w.view.ClusterID, w.view.Decided = 0xc2, etcd.Decided{At: clustertest.Noon, Index: 3}
	if at := reported(w).Status.Decided; at == nil || at.Index != 68 {
		t.Errorf("expected nothing to be noted of how far a seed is, got %+v", at)
	}
}
