// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// reported returns the EtcdCluster with its new status.
func reported(w world) *etcdv1beta2.EtcdCluster {
	c := w.c.DeepCopy()
	done := kit.Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}}}
	reportAt(c, w.facts, done, clustertest.Noon)
	return c
}

func conditionOf(c *etcdv1beta2.EtcdCluster, kind string) string {
	found := meta.FindStatusCondition(c.Status.Conditions, kind)
	if found == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", found.Status, found.Reason, found.Message)
}

// unbound leaves the claim of a pod without a volume.
func unbound(w world, pod string) world {
	w.unbound.Pod, w.unbound.Words = pod, "its claim has no volume: class missing"
	return w
}

func TestReadySaysInOneLineWhatIsInTheWay(t *testing.T) {
	plain, claims := clustertest.New(), clustertest.New(clustertest.WithClaims)
	n := func(serial int64) string { return model.MemberName(plain, serial) }
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"all is well":          {observed(plain, 3), "True AllMembersReady: 3 of 3 members are ready"},
		"nothing is there yet": {observed(clustertest.New(clustertest.Unformed), 0), "False Creating: The first 3 members are starting"},
		"one is lost":          {observed(plain, 3).without(1), "False MemberLost: 2 of 3 members are ready; " + n(1) + ": its pod is gone, and its emptyDir with it"},
		"its volume is empty":  {observed(claims, 3).refused(1, etcdstart.VolumeLost), "False MemberLost: 2 of 3 members are ready; " + n(1) + ": VolumeLost: no log in /var/etcd/data"},
		"one is down":          {observed(plain, 3).down(1), "False MemberNotReady: 2 of 3 members are ready; " + n(1) + ": container etcd runs, and its readiness probe does not succeed yet"},
		"two of three are down": {observed(claims, 3).down(1, 2),
			"False QuorumLost: Quorum is lost: 1 of 3 voters are healthy, 2 are needed; " + n(1) + ": container etcd runs, and its readiness probe does not succeed yet"},
		"two of three are gone for good": {observed(plain, 3).without(1, 2),
			"False QuorumLost: Quorum is lost: 1 of 3 voters are healthy, 2 are needed; " + n(1) + ": its pod is gone, and its emptyDir with it; " + n(2) + ": its pod is gone, and its emptyDir with it; only 1 of the voters can still come back, so the cluster accepts no writes. To recover from member " + n(0) + ", which has the log up to entry 0"},
		"the only one is changed, and starts again": {restarting(observed(clustertest.New(clustertest.Sized(1)), 1), etcdv1beta2.EtcdClusterUpToDate, common.ReasonUpdating),
			"False Updating: The members are restarting: 0 of 1 voters are healthy, 1 are needed"},
		"the only one is down, and was not changed": {restarting(observed(clustertest.New(clustertest.Sized(1)), 1), etcdv1beta2.EtcdClusterUpToDate, etcdv1beta2.ReasonAllUpToDate),
			"False QuorumLost: Quorum is lost: 0 of 1 voters are healthy, 1 are needed; "},
		"the only one was changed, and does not come up": {restarting(observed(clustertest.New(clustertest.Sized(1)), 1), etcdv1beta2.EtcdClusterUpToDate, common.ReasonUpdating).unpulled(0),
			"False QuorumLost: Quorum is lost: 0 of 1 voters are healthy, 1 are needed; " + n(0) + ": container etcd: ImagePullBackOff: not found"},
		"it wakes": {restarting(observed(claims, 3), etcdv1beta2.EtcdClusterAvailable, etcdv1beta2.ReasonHibernating),
			"False Updating: The members are restarting: 0 of 3 voters are healthy, 2 are needed"},
		"it goes on waking": {restarting(observed(claims, 3), etcdv1beta2.EtcdClusterAvailable, common.ReasonUpdating),
			"False Updating: The members are restarting: 0 of 3 voters are healthy, 2 are needed"},
		"one of three is changed when another one ends": {restarting(observed(claims, 3), etcdv1beta2.EtcdClusterUpToDate, common.ReasonUpdating),
			"False QuorumLost: Quorum is lost: 0 of 3 voters are healthy, 2 are needed; "},
		"one is gone while the cluster is paused": {pausedNow(observed(claims, 3).without(1)),
			"False MemberNotReady: 2 of 3 members are ready; " + n(1) + ": its pod is gone, and is not recreated while the cluster is paused"},
		"a first claim has no volume": {unbound(observed(clustertest.New(clustertest.Unformed, clustertest.WithClaims), 3).down(0, 1, 2), n(0)),
			"False MemberNotReady: The first 3 members are starting; " + n(0) + ": its claim has no volume: class missing"},
		"a later claim has no volume": {unbound(observed(claims, 3).down(1), n(1)),
			"False MemberNotReady: 2 of 3 members are ready; " + n(1) + ": its claim has no volume: class missing"},
		"it grows":        {observed(plain, 3).asks(clustertest.Sized(5)), "False ScalingUp: 3 of 5 members are ready"},
		"it shrinks":      {observed(plain, 5).asks(clustertest.Sized(3)), "False ScalingDown: The cluster is being scaled from 5 to 3 members"},
		"it upgrades":     {observed(plain, 3).asks(clustertest.Versioned("3.6.16")), "False Updating: 3 of 3 members do not match the spec yet"},
		"no way":          {observed(plain, 3).asks(clustertest.Versioned("3.4.44")), "False ImpossibleVersion: all members run 3.5.35, and a downgrade to 3.4.44 is not possible: their data has the newer format; set spec.version to 3.5.35, or restore a backup into a new cluster"},
		"no such size":    {observed(plain, 3).asks(clustertest.Sized(8)), "False InvalidSpec: spec.size: a cluster cannot have 8 members; use 1 to 7"},
		"no such version": {observed(plain, 3).asks(clustertest.Versioned("latest")), `False InvalidSpec: spec.version "latest" is not a number of three parts, such as 3.6.16`},
		"it sleeps":       {observed(claims, 3).asks(clustertest.Hibernates).without(0, 1, 2), "True Hibernating: The cluster is hibernating (spec.hibernate), so no member is running; the claims of 3 members are kept"},
		"no certificates": {uncertified(observed(plain, 3)), "False SecretMissing: TLS.static.operatorSecret: there is no Secret operator"},
	} {
		t.Run(name, func(t *testing.T) {
			got := conditionOf(reported(test.world), etcdv1beta2.EtcdClusterReady)
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("expected Ready to be\n%s, it is\n%s", test.want, got)
			}
		})
	}
}

// restarting makes all members start just now, so that they do not answer yet. It also sets a condition of the previous
// status to False with the given reason.
func restarting(w world, kind, reason string) world {
	for serial := range int64(len(w.pods)) {
		w = w.down(serial)
		w.pods[model.MemberName(w.c, serial)].Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(clustertest.Noon.Add(-time.Second))
	}
	w = w.asks(func(c *etcdv1beta2.EtcdCluster) {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason})
	})
	return w
}

func pausedNow(w world) world {
	w.paused = true
	return w
}

func uncertified(w world) world {
	w = w.asks(clustertest.WithAllTLS)
	w.tls = model.NewObstacle(etcdv1beta2.ReasonSecretMissing, "TLS.static.operatorSecret: there is no Secret operator")
	return w
}

func TestTheStatusIsTheContracts(t *testing.T) {
	golden.Check(t, "status.yaml", reported(observed(clustertest.New(), 3)).Status)
	golden.Check(t, "status-growing.yaml", reported(observed(clustertest.New(clustertest.Sized(4)), 3).joining(3, true)).Status)
}

func TestWhatGoesOnHasAConditionOnlyForAsLong(t *testing.T) {
	for name, test := range map[string]struct {
		world world
		kind  string
		want  string
	}{
		"scaling":    {observed(clustertest.New(), 3).asks(clustertest.Sized(4)), etcdv1beta2.EtcdClusterScaling, "True ScalingUp: Current cluster size: 3, desired cluster size: 4"},
		"upgrading":  {observed(clustertest.New(), 3).asks(clustertest.Versioned("3.6.16")), etcdv1beta2.EtcdClusterUpgrading, "True ClusterUpgrading: upgrading to 3.6.16"},
		"recovering": {observed(clustertest.New(), 3).without(1), etcdv1beta2.EtcdClusterRecovering, "True ReplacingMember: A member is being replaced; "},
	} {
		if got := conditionOf(reported(test.world), test.kind); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
		if got := conditionOf(reported(observed(clustertest.New(), 3)), test.kind); got != "none" {
			t.Errorf("expected nothing of %s when all is well, got %q", name, got)
		}
	}
}

func TestANewProcessThatHasNotLookedYetSaysWhatWasLastSaid(t *testing.T) {
	w := observed(clustertest.New(), 3)
	w.c = reported(w)
	if got := reported(unseen(w)); conditionOf(got, "Ready") != conditionOf(w.c, "Ready") || got.Status.Quorum != w.c.Status.Quorum {
		t.Errorf("expected the status to stay, got %s", conditionOf(got, "Ready"))
	}
	if got := conditionOf(reported(unseen(w.without(1))), "Ready"); !strings.HasPrefix(got, "False MemberNotReady: 2 of 3 pods of members are ready") {
		t.Errorf("expected a pod that is gone to be reported, got %s", got)
	}
}

// Regression: a restarted process reported that a new spec was carried out before it had read the members.
func TestANewProcessDoesNotTakeWhatWasSaidOfAnEarlierSpecForThisOne(t *testing.T) {
	w := observed(clustertest.New(), 3)
	w.c = reported(w)
	w.c.Generation++
	if got := conditionOf(reported(unseen(w.asks(clustertest.Sized(5)))), "Ready"); !strings.HasPrefix(got, "False Updating: ") {
		t.Errorf("expected it to be on its way, got %s", got)
	}
}

func TestAFormedClusterIsNotedOnceAndForAll(t *testing.T) {
	c := clustertest.New(clustertest.Unformed)
	w := observed(c, 3)
	got := reported(w)
	if got.Status.ClusterID != "00000000000000c1" || got.Status.Serial != 2 || got.Status.Phase != etcdv1beta2.PhaseRunning {
		t.Errorf("expected the cluster's id, the number of its last member and phase Running, got %+v", got.Status)
	}
	w.c = got
	if again := reported(w.without(0, 1, 2)); again.Status.ClusterID != got.Status.ClusterID || again.Status.Size != 3 || len(again.Status.Membership) != 3 {
		t.Errorf("expected what etcd last said to stay while it says nothing, got %+v", again.Status)
	}
}

func TestWhatTheFirstMembersMayHaveRunIsNotedUntilTheClusterIsFormed(t *testing.T) {
	begun := observed(clustertest.New(clustertest.Unformed, clustertest.Versioned("3.6.16")), 0)
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"it begins":                       {begun, "3.6.16"},
		"another is asked for":            {begun.asks(formedOn("3.6.8")), "3.6.8"},
		"an older one is asked for":       {begun.asks(formedOn("3.7.3")), "3.6.16"},
		"it is formed":                    {observed(clustertest.New(clustertest.Unformed), 3), "3.5.35"},
		"it was formed, and goes on":      {observed(clustertest.New(formedOn("3.5.35")), 3).asks(clustertest.Versioned("3.6.16")), "3.5.35"},
		"it was formed, who knows how":    {observed(clustertest.New(), 3), ""},
		"what is asked for is no version": {begun.asks(clustertest.Versioned("latest")), ""},
	} {
		if got := reported(test.world).Status.FormedWith; got != test.want {
			t.Errorf("%s: expected formedWith %q, got %q", name, test.want, got)
		}
	}
}

func TestTheEndOfWhat35WroteIsNotedOnceWhenAllHaveAgreedOn36(t *testing.T) {
	quiet := func(options ...clustertest.Option) world {
		return entered("3.6.16", options...).applied(40, 41, 40)
	}
	for name, test := range map[string]struct {
		world world
		want  int64
	}{
		"all have agreed":                {quiet(formedOn("3.5.35")), 41},
		"begun on who knows what":        {quiet(), 41},
		"begun on 3.6":                   {quiet(formedOn("3.6.16")), 0},
		"it is noted":                    {quiet(notedAt(7)), 7},
		"they have not agreed":           {quiet().speaking("3.5.0"), 0},
		"they have not reported it":      {quiet().speaking(""), 0},
		"one does not answer":            {quiet().down(2), 0},
		"one runs 3.5":                   {quiet().running(1, "3.5.35", "3.5.35"), 0},
		"it runs 3.5":                    {observed(clustertest.New(), 3).applied(40, 41, 40), 0},
		"it runs 3.7, and has got there": {entered("3.7.3").applied(40, 41, 40), 0},
	} {
		if got := reported(test.world).Status.SnapshotFrom; got != test.want {
			t.Errorf("%s: expected snapshotFrom %d, got %d", name, test.want, got)
		}
	}
}

func TestTheWayToASnapshotIsReportedInTenths(t *testing.T) {
	w := entered("3.6.16").asks(clustertest.Versioned("3.7.3"), notedAt(50)).applied(6_300, 6_200, 6_300)
	want := "False Updating: 3 of 3 members do not match the spec yet; the next change waits for the members to write a snapshot that etcd 3.7 can start from (60% done)"
	if got := conditionOf(reported(w), etcdv1beta2.EtcdClusterUpToDate); got != want {
		t.Errorf("expected\n%s, got\n%s", want, got)
	}
	w.facts.refused.Words = "no entry was written: no leader"
	if got := conditionOf(reported(w), etcdv1beta2.EtcdClusterUpToDate); got != want+": "+w.facts.refused.Words {
		t.Errorf("expected it to say why it does not go on, got\n%s", got)
	}
}

func TestSpecPausedIsReportedInItsOwnWords(t *testing.T) {
	w := observed(clustertest.New(), 3).asks(func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true })
	c := w.c.DeepCopy()
	reportAt(c, w.facts, kit.Outcome{Held: 2, Paused: true, PausedBy: "spec.paused"}, clustertest.Noon)
	if got := conditionOf(c, "Ready"); got != "False Paused: opcrew changes no child object while the object is paused by spec.paused" || !c.Status.ControlPaused {
		t.Errorf("expected the pause to be reported, got %s", got)
	}
}

func TestAQuorumThatCannotComeBackIsNoRecovery(t *testing.T) {
	got := reported(observed(clustertest.New(), 3).without(0, 2))
	if got.Status.Phase != etcdv1beta2.PhaseFailed || got.Status.Reason != "Quorum is permanently lost: 1 of 3 voters are healthy, 2 are needed" {
		t.Errorf("expected phase Failed, which in the contract ends by hand only, got %s: %s", got.Status.Phase, got.Status.Reason)
	}
	if got := conditionOf(got, etcdv1beta2.EtcdClusterRecovering); got != "none" {
		t.Errorf("expected nothing to be said of members being replaced, got %s", got)
	}
	if got := reported(observed(clustertest.New(), 3).without(2)); got.Status.Phase != etcdv1beta2.PhaseRunning {
		t.Errorf("expected a cluster that can replace a member to run, got %s", got.Status.Phase)
	}
}

func TestAClusterThatAsksForTLSAndNamesNoSecretsIsNotReady(t *testing.T) {
	w := observed(clustertest.New(), 3)
	if got := conditionOf(reported(w), common.ConditionProtectionMissing); got != "none" {
		t.Errorf("expected nothing to be said of a cluster that asks for no TLS, got %s", got)
	}
	got := reported(w.asks(func(c *etcdv1beta2.EtcdCluster) { c.Spec.TLS = &etcdv1beta2.TLSPolicy{} }))
	if ready := conditionOf(got, etcdv1beta2.EtcdClusterReady); !strings.HasPrefix(ready, "False ProtectionMissing: spec.TLS names no Secrets") {
		t.Errorf("expected Ready to say that nothing is encrypted and what to do, got %s", ready)
	}
}

func TestNothingIsSaidToBeUpToDateBeforeThereIsAnything(t *testing.T) {
	w := uncertified(observed(clustertest.New(clustertest.Unformed), 0))
	for _, kind := range []string{etcdv1beta2.EtcdClusterUpToDate, etcdv1beta2.EtcdClusterMembersReady, etcdv1beta2.EtcdClusterAvailable} {
		if got := conditionOf(reported(w), kind); got != "False SecretMissing: TLS.static.operatorSecret: there is no Secret operator" {
			t.Errorf("expected %s to name the missing Secret, got %s", kind, got)
		}
	}
	if got := conditionOf(reported(observed(clustertest.New(clustertest.Unformed, clustertest.Sized(1)), 0)), etcdv1beta2.EtcdClusterUpToDate); got != "False Creating: The first members are starting" {
		t.Errorf("expected nothing to be up to date yet, got %s", got)
	}
}

// Regression: a learner that receives a snapshot becomes a voter some seconds before it answers. The quorum is not lost
// meanwhile.
func TestAVoterThatDoesNotAnswerIsNoLostQuorumWhileTheMembersDecide(t *testing.T) {
	w := observed(clustertest.New(clustertest.Sized(2)), 2).down(1)
	w.view.Err = nil
	got := reported(w)
	want := "True ClusterAvailable: Cluster available: the members have a quorum, but not all of them respond: 1 of 2 voters are healthy, 2 are needed"
	if available := conditionOf(got, etcdv1beta2.EtcdClusterAvailable); available != want {
		t.Errorf("expected\n%s, got\n%s", want, available)
	}
	if ready := conditionOf(got, etcdv1beta2.EtcdClusterReady); !strings.HasPrefix(ready, "False MemberNotReady: 1 of 2 members are ready; ") {
		t.Errorf("expected Ready to name who does not answer, got %s", ready)
	}
}
