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
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Before the cluster counts as formed the operator may make its members again.
func TestClientsComeToVotersOfAFormedClusterOnly(t *testing.T) {
	for name, test := range map[string]struct {
		c               *etcdv1beta2.EtcdCluster
		started, learns bool
		want            string
	}{
		"a voter":                       {newCluster(), true, false, isVoter},
		"a voter that has not run yet":  {newCluster(), false, false, ""},
		"a learner":                     {newCluster(), true, true, ""},
		"before the cluster was formed": {newCluster(unformed, withLabel(voterLabel, isVoter)), true, false, ""},
	} {
		if got := (facts{}).podLabels(test.c, member{name: "m", started: test.started, learner: test.learns})[voterLabel]; got != test.want {
			t.Errorf("%s: expected %q for the label that clients are led by, got %q", name, test.want, got)
		}
	}
}

// Regression: each restart of the operator lowered the budget for a moment, as the status knew of
// fewer voters than there were.
func TestTheDisruptionBudgetIsNotChangedBeforeTheMembersWereLookedAt(t *testing.T) {
	for name, test := range map[string]struct {
		world    world
		declared bool
	}{
		"looked at":               {observed(newCluster(), 3), true},
		"not yet":                 {unseen(observed(newCluster(), 3)), false},
		"a step was taken":        {stale(observed(newCluster(), 3)), false},
		"before the cluster is":   {unseen(observed(newCluster(unformed), 3)), true},
		"the quorum does not say": {observed(newCluster(), 3).down(0, 1), false},
	} {
		d := test.world.decide(test.world.c)
		declared := slices.ContainsFunc(test.world.children(test.world.c, d), func(child ensure.Child) bool {
			_, is := child.Object.(*policyv1ac.PodDisruptionBudgetApplyConfiguration)
			return is
		})
		if declared != test.declared || test.world.stays(test.world.c, d)(&policyv1.PodDisruptionBudget{}) == test.declared {
			t.Errorf("%s: expected the budget to be declared (%v), or else to stay", name, test.declared)
		}
	}
}

// Regression: a claim came into the cache after the facts had been read from it. No one had declared
// it, and it was deleted under a member that was well.
func TestWhatBelongsToAMemberIsNeverDeletedForNotHavingBeenSeen(t *testing.T) {
	w := observed(newCluster(withClaims), 3)
	name := memberName(w.c, 1)
	pod, claim := w.pods[name], w.claims[name]
	w = w.without(1).unclaimed(1)
	w.view = observed(w.c, 3).view
	if d := w.decide(w.c); !w.stays(w.c, d)(pod) || !w.stays(w.c, d)(claim) {
		t.Error("expected pod and claim of a member to stay")
	}
	stranger := claim.DeepCopy()
	stranger.Name = memberName(w.c, 7)
	if w.stays(w.c, w.decide(w.c))(stranger) {
		t.Error("expected the claim of a member that was taken out to go")
	}
}

func TestTheBudgetKeepsTheQuorumOfThoseWhoVoteAndOfThoseWhoShall(t *testing.T) {
	for name, test := range map[string]struct {
		world world
		want  int
	}{
		"as asked":                    {observed(newCluster(), 3), 2},
		"it grows":                    {observed(newCluster(), 3).asks(sized(5)), 3},
		"it shrinks, and has not yet": {observed(newCluster(), 5).asks(sized(3)), 3},
		"a learner is not counted on": {observed(newCluster(), 3).with(3, true).asks(sized(4)), 4},
		"to one, and has not yet":     {observed(newCluster(), 3).asks(sized(1)), 2},
	} {
		d := test.world.decide(test.world.c)
		if got := disruptionBudget(test.world.c, d).Spec.MinAvailable.IntValue(); got != test.want {
			t.Errorf("%s: expected at least %d pods to stay, got %d", name, test.want, got)
		}
	}
}

func TestOnceFormedNobodyMayStartOnAnEmptyVolumeButWhoJoins(t *testing.T) {
	c := newCluster()
	w := observed(c, 3)
	for _, pod := range w.pods {
		pod.Annotations[startAnnotation] = "bootstrap 0000000000000100"
	}
	if d := w.decide(c); len(d.establish) != 3 {
		t.Errorf("expected all three first members to be established, got %d", len(d.establish))
	}
	w = observed(c, 3).joining(3, false)
	d := w.decide(c)
	for _, m := range d.members {
		got, _, _ := strings.Cut(w.startOf(c, m), " ")
		if want := map[bool]string{true: "established", false: "join"}[m.started]; got != want {
			t.Errorf("member %d: expected %q, got %q", m.serial, want, got)
		}
	}
}

func TestThePodOfALostMemberIsNotMadeAnew(t *testing.T) {
	for name, w := range map[string]world{
		"its emptyDir went with it":     observed(newCluster(), 3).without(1),
		"its claim went too":            observed(newCluster(withClaims), 3).without(1).unclaimed(1),
		"and the quorum with both":      observed(newCluster(withClaims), 3).without(1, 2).unclaimed(1, 2),
		"emptyDir, and the quorum went": observed(newCluster(), 3).without(1, 2),
	} {
		d := w.decide(w.c)
		for _, m := range d.members {
			if m.serial == 1 && w.wantsPod(w.c, d, m) {
				t.Errorf("%s: expected no pod for a member that has lost its data", name)
			}
		}
	}
}

func TestAllPodsOfACollapsedClusterWithClaimsComeBackAsTheyWere(t *testing.T) {
	w := observed(newCluster(withClaims), 3).without(0, 1, 2)
	d := w.decide(w.c)
	for _, m := range d.members {
		if !w.wantsPod(w.c, d, m) || !strings.HasPrefix(w.startOf(w.c, m), "established ") {
			t.Errorf("expected member %d to come back on its volume, and on nothing else", m.serial)
		}
	}
	if len(d.members) != 3 {
		t.Errorf("expected 3 members, got %d", len(d.members))
	}
}

func TestAnOldCacheDoesNotTakeAwayWhatJoinsNow(t *testing.T) {
	w := observed(newCluster(), 3)
	stays := w.stays(w.c, w.decide(w.c))
	pod := &corev1.Pod{}
	pod.Name = memberName(w.c, 7)
	pod.CreationTimestamp.Time = noon.Add(time.Second)
	if !stays(pod) {
		t.Error("expected a pod that is newer than the look at the cluster to stay")
	}
	pod.CreationTimestamp.Time = noon.Add(-time.Minute)
	if stays(pod) {
		t.Error("expected the pod of a member that was taken out to go")
	}
	blind := unseen(w)
	if stays := blind.stays(w.c, blind.decide(w.c)); !stays(pod) {
		t.Error("expected every pod to stay as long as the cluster has not said who its members are")
	}
}

// Regression: pods that were all gone, as after hibernation, came back as what was asked for.
func TestAClusterWithoutPodsComesBackAsItWasAndGoesOnFromThere(t *testing.T) {
	for name, test := range map[string]struct {
		world        world
		want, target string
	}{
		"as it was":           {observed(newCluster(withClaims), 3), "3.5.35", ""},
		"another patch":       {observed(newCluster(withClaims), 3).asks(versioned("3.5.36")), "3.5.35", "3.5.36"},
		"over two minors":     {observed(newCluster(withClaims), 3).asks(versioned("3.7.3")), "3.5.35", "3.6.16"},
		"after the next":      {observed(newCluster(withClaims), 3).asks(versioned("3.7.3")).running(0, "3.6.16", "3.6.16"), "3.5.35", "3.6.16"},
		"and it cannot be so": {observed(newCluster(withClaims), 3).asks(versioned("3.4.44")), "3.5.35", ""},
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

// Regression: an upgrade of the operator would have led clients past all members until their pods
// were labelled, and for good where it cannot ask the members.
func TestTheServiceStaysAsItIsUntilItLeadsToEveryVoter(t *testing.T) {
	for name, test := range map[string]struct {
		world world
		want  bool
	}{
		"all are labelled":           {observed(newCluster(), 3), true},
		"one is not":                 {observed(newCluster(), 3).hidden(1), false},
		"one is not, and a pod gone": {observed(newCluster(withClaims), 3).without(1), true},
		"a learner is not":           {observed(newCluster(), 3).with(3, true), true},
		"before the cluster is":      {observed(newCluster(unformed), 3).hidden(0).hidden(1).hidden(2), true},
	} {
		declared := slices.ContainsFunc(test.world.children(test.world.c, test.world.decide(test.world.c)), func(child ensure.Child) bool {
			s, is := child.Object.(*corev1ac.ServiceApplyConfiguration)
			return is && *s.GetName() == clientService(test.world.c)
		})
		if declared != test.want {
			t.Errorf("%s: expected the Service for clients to be declared: %v", name, test.want)
		}
	}
}

// Regression: a claim that was made in the second of the last look stayed when its member was taken
// out, as nothing had the cluster looked at again.
func TestAClaimThatIsNoMembersIsLookedAtAgain(t *testing.T) {
	w := observed(newCluster(withClaims), 3)
	if again := w.again(w.c, w.decide(w.c)); again != 0 {
		t.Errorf("expected a cluster that is well to rest, it is looked at after %s", again)
	}
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name = memberName(w.c, 7)
	w.claims[claim.Name] = claim
	if again := w.again(w.c, w.decide(w.c)); again != strayWait {
		t.Errorf("expected a look after %s, got %s", strayWait, again)
	}
	claim.DeletionTimestamp = &metav1.Time{Time: noon}
	if again := w.again(w.c, w.decide(w.c)); again != 0 {
		t.Errorf("expected nothing of a claim that is on its way out, got a look after %s", again)
	}
}

// Regression: a label that someone took off again and again kept a lost member from being replaced.
func TestALabelThatIsMissingHoldsUpNoStep(t *testing.T) {
	w := observed(newCluster(), 3).without(1).hidden(2)
	plan := (&reconciler{}).Plan(w.c, w.facts, noon)
	if plan.Step == nil || len(plan.Patches)+len(plan.Aside) != 1 {
		t.Errorf("expected the lost member to be removed while a pod is labelled, got %+v", plan)
	}
}

// Only patches aside cannot keep the step from being taken when the API server refuses them.
func TestWhatIsPutBackOnPodsCanBeRefusedWithoutHoldingUpTheStep(t *testing.T) {
	w := observed(newCluster(), 4).without(1).hidden(3)
	w.pods[memberName(w.c, 2)].Annotations[etcdv1beta2.VersionAnnotation] = "1.1.1"
	plan := (&reconciler{}).Plan(w.c, w.facts, noon)
	if plan.Step == nil || len(plan.Patches) != 0 || len(plan.Aside) != 2 {
		t.Errorf("expected a step and two patches aside, got step %v, %d patches and %d aside", plan.Step, len(plan.Patches), len(plan.Aside))
	}
}

func TestAPauseByTheSpecHoldsTheWholePlanBack(t *testing.T) {
	paused := func(c *etcdv1beta2.EtcdCluster) { c.Spec.Paused = true }
	for name, w := range map[string]world{
		"a cluster that runs": observed(newCluster(paused), 3), "one that is not formed": observed(newCluster(unformed, paused), 0),
	} {
		if by := (&reconciler{}).Plan(w.c, w.facts, noon).PausedBy; by != "spec.paused" {
			t.Errorf("%s: expected the plan to be paused by spec.paused, got %q", name, by)
		}
	}
}
