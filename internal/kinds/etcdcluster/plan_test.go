// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Regression: each restart of the operator lowered the disruption budget for a moment, as the status listed fewer
// voters than there were.
func TestTheDisruptionBudgetIsNotChangedBeforeTheMembersWereLookedAt(t *testing.T) {
	for name, test := range map[string]struct {
		world    world
		declared bool
	}{
		"looked at":               {observed(clustertest.New(), 3), true},
		"not yet":                 {unseen(observed(clustertest.New(), 3)), false},
		"a step was taken":        {stale(observed(clustertest.New(), 3)), false},
		"before the cluster is":   {unseen(observed(clustertest.New(clustertest.Unformed), 3)), true},
		"the quorum does not say": {observed(clustertest.New(), 3).down(0, 1), false},
	} {
		d := test.world.decide(test.world.c)
		declared := slices.ContainsFunc(test.world.children(test.world.c, d), func(child ensure.Child) bool {
			_, is := child.Object.(*policyv1ac.PodDisruptionBudgetApplyConfiguration)
			return is
		})
		if declared != test.declared || test.world.keeps(test.world.c, d)(&policyv1.PodDisruptionBudget{}) == test.declared {
			t.Errorf("%s: expected the budget to be declared (%v), or else to stay", name, test.declared)
		}
	}
}

// Regression: a claim appeared in the cache after opcrew had read the members. The plan did not declare the claim, so
// opcrew deleted it although its member was healthy.
func TestWhatBelongsToAMemberIsNeverDeletedForNotHavingBeenSeen(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims), 3)
	name := model.MemberName(w.c, 1)
	pod, claim := w.pods[name], w.claims[name]
	w = w.without(1).unclaimed(1)
	w.view = observed(w.c, 3).view
	if d := w.decide(w.c); !w.keeps(w.c, d)(pod) || !w.keeps(w.c, d)(claim) {
		t.Error("expected pod and claim of a member to stay")
	}
	removed := claim.DeepCopy()
	removed.Name = model.MemberName(w.c, 7)
	if w.keeps(w.c, w.decide(w.c))(removed) {
		t.Error("expected the claim of a member that was taken out to go")
	}
}

func TestTheBudgetKeepsTheQuorumOfThoseWhoVoteAndOfThoseWhoShall(t *testing.T) {
	for name, test := range map[string]struct {
		world world
		want  int
	}{
		"as asked":                    {observed(clustertest.New(), 3), 2},
		"it grows":                    {observed(clustertest.New(), 3).asks(clustertest.Sized(5)), 3},
		"it shrinks, and has not yet": {observed(clustertest.New(), 5).asks(clustertest.Sized(3)), 3},
		"a learner is not counted on": {observed(clustertest.New(), 3).with(3, true).asks(clustertest.Sized(4)), 4},
		"to one, and has not yet":     {observed(clustertest.New(), 3).asks(clustertest.Sized(1)), 2},
	} {
		d := test.world.decide(test.world.c)
		if got := build.DisruptionBudget(test.world.c, d.members).Spec.MinAvailable.IntValue(); got != test.want {
			t.Errorf("%s: expected at least %d pods to stay, got %d", name, test.want, got)
		}
	}
}

func TestOnceFormedOnlyAMemberThatJoinsMayStartOnAnEmptyVolume(t *testing.T) {
	c := clustertest.New()
	w := observed(c, 3)
	for _, pod := range w.pods {
		pod.Annotations[model.StartAnnotation] = "bootstrap 0000000000000100"
	}
	if d := w.decide(c); len(d.establish) != 3 {
		t.Errorf("expected all three first members to be established, got %d", len(d.establish))
	}
	w = observed(c, 3).joining(3, false)
	d := w.decide(c)
	for _, m := range d.members {
		got, _, _ := strings.Cut(w.builder(c).StartOf(m), " ")
		if want := map[bool]string{true: "established", false: "join"}[m.Started]; got != want {
			t.Errorf("member %d: expected %q, got %q", m.Serial, want, got)
		}
	}
}

func TestThePodOfALostMemberIsNotRecreated(t *testing.T) {
	for name, w := range map[string]world{
		"its emptyDir went with it":     observed(clustertest.New(), 3).without(1),
		"its claim went too":            observed(clustertest.New(clustertest.WithClaims), 3).without(1).unclaimed(1),
		"and the quorum with both":      observed(clustertest.New(clustertest.WithClaims), 3).without(1, 2).unclaimed(1, 2),
		"emptyDir, and the quorum went": observed(clustertest.New(), 3).without(1, 2),
	} {
		d := w.decide(w.c)
		for _, m := range d.members {
			if m.Serial == 1 && w.wantsPod(w.c, d, m) {
				t.Errorf("%s: expected no pod for a member that has lost its data", name)
			}
		}
	}
}

func TestAllPodsOfACollapsedClusterWithClaimsComeBackAsTheyWere(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims), 3).without(0, 1, 2)
	d := w.decide(w.c)
	for _, m := range d.members {
		if !w.wantsPod(w.c, d, m) || !strings.HasPrefix(w.builder(w.c).StartOf(m), "established ") {
			t.Errorf("expected member %d to come back on its volume, and on nothing else", m.Serial)
		}
	}
	if len(d.members) != 3 {
		t.Errorf("expected 3 members, got %d", len(d.members))
	}
}

func TestAnOldCacheDoesNotTakeAwayWhatJoinsNow(t *testing.T) {
	w := observed(clustertest.New(), 3)
	stays := w.keeps(w.c, w.decide(w.c))
	pod := &corev1.Pod{}
	pod.Name = model.MemberName(w.c, 7)
	pod.CreationTimestamp.Time = clustertest.Noon.Add(time.Second)
	if !stays(pod) {
		t.Error("expected a pod that is newer than the look at the cluster to stay")
	}
	pod.CreationTimestamp.Time = clustertest.Noon.Add(-time.Minute)
	if stays(pod) {
		t.Error("expected the pod of a member that was taken out to go")
	}
	blind := unseen(w)
	if stays := blind.keeps(w.c, blind.decide(w.c)); !stays(pod) {
		t.Error("expected every pod to stay as long as the cluster has not said who its members are")
	}
}

// Regression: if all pods were gone, as after hibernation, opcrew recreated them at once with the version in the spec,
// even if this version had changed meanwhile.
func TestAClusterWithoutPodsComesBackAsItWasAndGoesOnFromThere(t *testing.T) {
	for name, test := range map[string]struct {
		world        world
		want, target string
	}{
		"as it was":           {observed(clustertest.New(clustertest.WithClaims), 3), "3.5.35", ""},
		"another patch":       {observed(clustertest.New(clustertest.WithClaims), 3).asks(clustertest.Versioned("3.5.36")), "3.5.35", "3.5.36"},
		"over two minors":     {observed(clustertest.New(clustertest.WithClaims), 3).asks(clustertest.Versioned("3.7.3")), "3.5.35", "3.6.16"},
		"after the next":      {observed(clustertest.New(clustertest.WithClaims), 3).asks(clustertest.Versioned("3.7.3")).running(0, "3.6.16", "3.6.16"), "3.5.35", "3.6.16"},
		"and it cannot be so": {observed(clustertest.New(clustertest.WithClaims), 3).asks(clustertest.Versioned("3.4.44")), "3.5.35", ""},
	} {
		w := test.world.without(0, 1, 2)
		if name == "after the next" {
			w = test.world.without(1, 2)
		}
		d := w.decide(w.c)
		if got := w.versionFor(w.c, d); got != test.want || d.target != test.target {
			t.Errorf("%s: expected pods of %s, to go on to %q, got %s and %q", name, test.want, test.target, got, d.target)
		}
	}
}

// Regression: an upgrade of opcrew would have hidden all members from the client Service until their pods had the new
// label. Without a connection to the members, opcrew could never have set this label.
func TestTheServiceStaysAsItIsUntilItLeadsToEveryVoter(t *testing.T) {
	for name, test := range map[string]struct {
		world world
		want  bool
	}{
		"all are labelled":           {observed(clustertest.New(), 3), true},
		"one is not":                 {observed(clustertest.New(), 3).hidden(1), false},
		"one is not, and a pod gone": {observed(clustertest.New(clustertest.WithClaims), 3).without(1), true},
		"a learner is not":           {observed(clustertest.New(), 3).with(3, true), true},
		"before the cluster is":      {observed(clustertest.New(clustertest.Unformed), 3).hidden(0).hidden(1).hidden(2), true},
	} {
		declared := slices.ContainsFunc(test.world.children(test.world.c, test.world.decide(test.world.c)), func(child ensure.Child) bool {
			s, is := child.Object.(*corev1ac.ServiceApplyConfiguration)
			return is && *s.GetName() == model.ClientService(test.world.c)
		})
		if declared != test.want {
			t.Errorf("%s: expected the Service for clients to be declared: %v", name, test.want)
		}
	}
}

// Regression: a claim that was created in the same second as the last view stayed after its member was removed, as
// nothing started another reconcile.
func TestAClaimThatIsNoMembersIsLookedAtAgain(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims), 3)
	if again := w.again(w.c, w.decide(w.c)); again != 0 {
		t.Errorf("expected a cluster that is well to rest, it is looked at after %s", again)
	}
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name = model.MemberName(w.c, 7)
	w.claims[claim.Name] = claim
	if again := w.again(w.c, w.decide(w.c)); again != strayWait {
		t.Errorf("expected a look after %s, got %s", strayWait, again)
	}
	claim.DeletionTimestamp = &metav1.Time{Time: clustertest.Noon}
	if again := w.again(w.c, w.decide(w.c)); again != 0 {
		t.Errorf("expected nothing of a claim that is on its way out, got a look after %s", again)
	}
}

// Regression: another client kept removing a label from a pod, and this blocked the replacement of a lost member.
func TestALabelThatIsMissingHoldsUpNoStep(t *testing.T) {
	w := observed(clustertest.New(), 3).without(1).hidden(2)
	plan := planAt(w.c, w.facts, clustertest.Noon)
	if plan.Step == nil || len(plan.Patches)+len(plan.Independent) != 1 {
		t.Errorf("expected the lost member to be removed while a pod is labelled, got %+v", plan)
	}
}

// The API server may refuse the patches that repair pods. Such a refusal must not block the step of the same plan.
func TestWhatIsPutBackOnPodsCanBeRefusedWithoutHoldingUpTheStep(t *testing.T) {
	w := observed(clustertest.New(), 4).without(1).hidden(3)
	w.pods[model.MemberName(w.c, 2)].Annotations[etcdv1beta2.VersionAnnotation] = "1.1.1"
	plan := planAt(w.c, w.facts, clustertest.Noon)
	if plan.Step == nil || len(plan.Patches) != 0 || len(plan.Independent) != 2 {
		t.Errorf("expected a step and two patches aside, got step %v, %d patches and %d aside", plan.Step, len(plan.Patches), len(plan.Independent))
	}
}

func TestAPauseByTheSpecHoldsTheWholePlanBack(t *testing.T) {
	paused := func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true }
	for name, w := range map[string]world{
		"a cluster that runs": observed(clustertest.New(paused), 3), "one that is not formed": observed(clustertest.New(clustertest.Unformed, paused), 0),
	} {
		if by := planAt(w.c, w.facts, clustertest.Noon).PausedBy; by != "spec.paused" {
			t.Errorf("%s: expected the plan to be paused by spec.paused, got %q", name, by)
		}
	}
}
