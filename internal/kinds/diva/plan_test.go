// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"testing"
	"time"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/build"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func planned(d *opsv1.Diva, f facts) kit.Plan { return planAt(d, f, noon) }

// child returns the first object of a kind in a plan.
func child(plan kit.Plan, wanted string) *ensure.Child {
	for i := range plan.Children {
		if kind, _ := refOf(plan.Children[i]); kind == wanted {
			return &plan.Children[i]
		}
	}
	return nil
}

func setOf(t *testing.T, plan kit.Plan) *appsv1ac.StatefulSetApplyConfiguration {
	t.Helper()
	found := child(plan, "StatefulSet")
	if found == nil {
		t.Fatal("expected a StatefulSet")
	}
	return found.Object.(*appsv1ac.StatefulSetApplyConfiguration)
}

func TestWithoutAKeyThereAreNoPodsYetButAllThatWaitsForNone(t *testing.T) {
	d := newDiva(2)
	f := observed(t, d, nil, noSecret, nothingRuns, gives(keys.Given{Problem: &keys.Problem{Reason: opsv1.ReasonKeyUnusable, Message: "x"}}))
	plan := planned(d, f)
	for _, kind := range []string{"Secret", "StatefulSet", "Deployment"} {
		if child(plan, kind) != nil {
			t.Errorf("expected no %s", kind)
		}
	}
	if got := len(plan.Children); got != 7 {
		t.Errorf("expected the 7 others, got %d", got)
	}
}

// A user without permission to read Secrets creates a Diva. opcrew must create the client pods, and must not refuse
// them only because they mount a Secret that opcrew has not created yet.
func TestClientsAreCreatedTogetherWithTheSecretThatTheyMount(t *testing.T) {
	d := newDiva(2)
	for what, test := range map[string]struct {
		facts facts
		want  bool
	}{
		"no keys are stored":             {observed(t, d, nil, noSecret, nothingRuns), false},
		"the login keys are stored":      {observed(t, d, settled(t), nothingRuns), true},
		"the keys are lost, clients run": {observed(t, d, nil, noSecret), true},
	} {
		plan := planned(d, test.facts)
		same(t, what+": clients", test.want, child(plan, "StatefulSet") != nil)
		same(t, what+": the manager", true, child(plan, "Deployment") != nil)
	}
}

func TestAStepOfTheKeysRestsOnTheSecretThatItWasDecidedOn(t *testing.T) {
	d := newDiva(2)
	same(t, "the version that it rests on", "7", child(planned(d, observed(t, d, settled(t))), "Secret").DecidedOn)
	same(t, "the version of none", "", child(planned(d, observed(t, d, nil, noSecret, nothingRuns)), "Secret").DecidedOn)
}

func TestTheInventoryIsDeclaredBeforeTheClients(t *testing.T) {
	d := newDiva(2)
	first := map[string]int{}
	for i, each := range planned(d, observed(t, d, settled(t))).Children {
		kind, _ := refOf(each)
		first[kind] = i
	}
	if first["ConfigMap"] > first["StatefulSet"] || first["Secret"] > first["StatefulSet"] {
		t.Errorf("expected keys and inventory before the pods that mount them, got %v", first)
	}
}

func TestNoClientIsTakenAwayThatTheManagerStillHasInItsInventory(t *testing.T) {
	five, three := newDiva(5), newDiva(3)
	running := observed(t, five, settled(t))
	same(t, "replicas while the inventory has five", int32(5), *setOf(t, planned(three, running)).Spec.Replicas)
	running.inventory = build.Hosts(three)
	same(t, "replicas when it has three", int32(3), *setOf(t, planned(three, running)).Spec.Replicas)
	running.inventory = ""
	same(t, "replicas of more clients", int32(9), *setOf(t, planned(newDiva(9), running)).Spec.Replicas)
}

func TestClaimsGrowFirstAndTheStatefulSetFollowsWhenAllHaveBeenResized(t *testing.T) {
	before, after := newDiva(2), newDiva(2, func(d *opsv1.Diva) { d.Spec.Client.Storage.Size = "3Gi" })
	f := observed(t, before, settled(t))
	template := func(f facts) string {
		return setOf(t, planned(after, f)).Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String()
	}
	plan := planned(after, f)
	if len(plan.Patches) != 2 || template(f) != "2Gi" {
		t.Errorf("expected two claims to be resized and the StatefulSet to wait, got %d and %s", len(plan.Patches), template(f))
	}
	same(t, "the patch", `[{"op":"test","path":"/metadata/uid","value":"uid-of-wi-ops-client-0"},`+
		`{"op":"test","path":"/spec/resources/requests/storage","value":"2Gi"},`+
		`{"op":"replace","path":"/spec/resources/requests/storage","value":"3Gi"}]`, string(plan.Patches[0].Data))
	asks("wi-ops-client-0", "3Gi")(&f)
	if len(planned(after, f).Patches) != 1 || template(f) != "2Gi" {
		t.Error("expected the second claim to be waited for")
	}
	asks("wi-ops-client-1", "3Gi")(&f)
	if len(planned(after, f).Patches) != 0 || template(f) != "3Gi" {
		t.Error("expected the StatefulSet to follow")
	}
	set := child(planned(after, f), "StatefulSet")
	if !set.Orphan || len(set.ReplaceOn) != 1 {
		t.Error("expected it to be recreated around its pods")
	}
	asks("wi-ops-client-1", "5Gi")(&f)
	if len(planned(after, f).Patches) != 0 {
		t.Error("expected a claim that a user made larger to stay so")
	}
}

func TestClaimsOfClientsThatWentGrowTooAndThoseOfOthersDoNot(t *testing.T) {
	d := newDiva(1, func(d *opsv1.Diva) { d.Spec.Client.Storage.Size = "3Gi" })
	f := observed(t, newDiva(3), settled(t))
	f.claims["wi-ops-clients-0"] = newClaim(storage.Expected{Name: "wi-ops-clients-0", Storage: opsv1.Storage{Size: "1Gi"}})
	var names []string
	for _, patch := range planned(d, f).Patches {
		names = append(names, patch.Object.GetName())
	}
	same(t, "claims that grow", []string{"wi-ops-client-0", "wi-ops-client-1", "wi-ops-client-2"}, names)
}

func TestWhatCannotGrowIsNotTriedAndIsLookedAtAgain(t *testing.T) {
	d := newDiva(1, func(d *opsv1.Diva) {
		d.Spec.Client.Storage.Size, d.Spec.Manager.Storage.Size = "3Gi", "3Gi"
	})
	f := observed(t, newDiva(1), settled(t))
	f.rigid["longhorn"] = "it does not let volumes grow"
	plan := planned(d, f)
	if len(plan.Patches) > 0 || setOf(t, plan).Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String() != "2Gi" {
		t.Error("expected claims and StatefulSet to stay")
	}
	same(t, "the manager's claim", "2Gi", managerClaimSize(planned(d, f), "ops-manager"))
	same(t, "the next look", workload.ClassInterval, plan.Again)
}

// Regression: a claim with the label managed-by of another tool causes no event, and Ready stayed False after it had grown.
func TestAVolumeThatGrowsIsLookedAtAgain(t *testing.T) {
	d := newDiva(1, func(d *opsv1.Diva) { d.Spec.Client.Storage.Size = "3Gi" })
	f := observed(t, newDiva(1), settled(t))
	same(t, "the next look", workload.ClassInterval, planned(d, f).Again)
	asks("wi-ops-client-0", "3Gi")(&f)
	same(t, "the next look after it has grown", time.Duration(0), planned(d, f).Again)
}

// The API server rejects a larger request of a claim that has no volume yet.
func TestAClaimWithoutAVolumeKeepsItsSizeAndHoldsUpNoOther(t *testing.T) {
	d := newDiva(2, func(d *opsv1.Diva) {
		d.Spec.Client.Storage.Size, d.Spec.Manager.Storage.Size = "3Gi", "3Gi"
	})
	f := observed(t, newDiva(2), settled(t), asks("wi-ops-client-1", "3Gi"))
	for _, name := range []string{"ops-manager", "wi-ops-client-0"} {
		f.claims[name].Status.Phase = corev1.ClaimPending
	}
	plan := planned(d, f)
	same(t, "patches", 0, len(plan.Patches))
	same(t, "the manager's claim", "2Gi", managerClaimSize(planned(d, f), "ops-manager"))
	same(t, "classes that are asked", 0, len(storageInput(d, f, noon).SmallClasses()))
	same(t, "the size of new claims", "3Gi", setOf(t, plan).Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String())
}

// managerClaimSize returns the size that a plan requests for a claim of the manager pods.
func managerClaimSize(plan kit.Plan, name string) string {
	for _, child := range plan.Children {
		if claim, ok := child.Object.(*corev1ac.PersistentVolumeClaimApplyConfiguration); ok && *claim.Name == name {
			return claim.Spec.Resources.Requests.Storage().String()
		}
	}
	return "none"
}

func TestPodsOfAnImageThatIsNoneStayAsTheyArePinnedToo(t *testing.T) {
	d := newDiva(2, func(d *opsv1.Diva) {
		d.Spec.Client.Image, d.Spec.Client.Storage.Size = "No:image", "3Gi"
	})
	f := observed(t, newDiva(2), settled(t), asks("wi-ops-client-0", "3Gi"), asks("wi-ops-client-1", "3Gi"))
	f.clients.Set.Annotations = map[string]string{common.PinnedAnnotation: "a.b"}
	plan := planned(d, f)
	set := child(plan, "StatefulSet")
	if set.Pin != nil || len(set.Carry) != 2 || set.ReplaceOn != nil || setOf(t, plan).Annotations[common.PinnedAnnotation] != "a.b" {
		t.Errorf("expected the live template to be kept, and its pin, got %+v", set)
	}
	same(t, "the size of new claims", "2Gi", setOf(t, plan).Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String())
	if manager := child(plan, "Deployment"); manager.Pin == nil {
		t.Error("expected the manager to go on by itself")
	}
	f.clients = workload.Members{}
	if child(planned(d, f), "StatefulSet") != nil {
		t.Error("expected no StatefulSet to be made of an image that is none")
	}
}

func TestAClaimThatIsLeftKeepsWhatCannotChange(t *testing.T) {
	d := newDiva(1, func(d *opsv1.Diva) {
		d.Spec.Manager.Storage = opsv1.Storage{Size: "1Gi", ClassName: "other", AccessMode: "ReadWriteMany"}
	})
	f := observed(t, newDiva(1), settled(t))
	plan := planned(d, f)
	golden.Check(t, "left-claim.yaml", child(plan, "PersistentVolumeClaim").Object)
	if claim := child(plan, "PersistentVolumeClaim"); !claim.Keep || !claim.Retain {
		t.Error("expected its data to be retained")
	}
	d.Spec.DeletionPolicy = opsv1.DeletionDelete
	plan = planned(d, f)
	if child(plan, "PersistentVolumeClaim").Retain {
		t.Error("expected the claim to go with the object where the user says so")
	}
	if policy := setOf(t, plan).Spec.PersistentVolumeClaimRetentionPolicy; *policy.WhenDeleted != appsv1.RetainPersistentVolumeClaimRetentionPolicyType {
		t.Error("expected no claim to go with a StatefulSet that a user deletes")
	}
}

func TestTheNextLookComesWhenSomethingIsDueThatNoEventShows(t *testing.T) {
	referring := func(d *opsv1.Diva) { d.Spec.SSH = &opsv1.SSH{SecretRef: &opsv1.SecretRef{Name: "mine"}} }
	for what, test := range map[string]struct {
		diva *opsv1.Diva
		ring *ring.Ring
		f    []factOption
		want time.Duration
	}{
		"nothing":                        {newDiva(1), settled(t), nil, 0},
		"a rotation by age":              {newDiva(1, withAge("2h")), settled(t), nil, time.Hour},
		"a far one":                      {newDiva(1, withAge("90d")), settled(t), nil, longestWait},
		"a Secret of the user":           {newDiva(1, referring), settled(t), with(gives(keys.Given{Pair: key(t, "old")}))(nil), secretInterval},
		"one that is missing":            {newDiva(1, referring), settled(t), with(gives(keys.Given{Problem: &keys.Problem{}}))(nil), waitInterval},
		"pods that are to follow":        {newDiva(1), authorizing(t), with(silent("ops-client-0"))(nil), askInterval},
		"clients that retire a key":      {newDiva(1, withStatus(opsv1.SSHRetiring, settled(t))), settled(t), with(silent("ops-client-0"))(nil), askInterval},
		"clients that have done so":      {newDiva(1, withStatus(opsv1.SSHRetiring, settled(t))), settled(t), nil, 0},
		"why pods or claims are missing": {newDiva(1), settled(t), with(func(f *facts) { f.clients.Refusal.Again, f.unbound.Again = 9*time.Second, 3*time.Second })(nil), 3 * time.Second},
	} {
		t.Run(what, func(t *testing.T) {
			if got := planned(test.diva, observed(t, test.diva, test.ring, test.f...)).Again; got != test.want {
				t.Errorf("expected another look after %s, got %s", test.want, got)
			}
		})
	}
}

// Pods mount a Secret by name, so they would read another owner's Secret of that name.
func TestNoPodIsCreatedWhileASecretOfThatNameBelongsToAnotherOwner(t *testing.T) {
	d := newDiva(1)
	f := observed(t, d, nil, noSecret, nothingRuns, func(f *facts) { f.foreign = "ops-ssh" })
	plan := planAt(d, f, noon)
	for _, kind := range []string{"StatefulSet", "Deployment"} {
		if child(plan, kind) != nil {
			t.Errorf("expected no %s, whose pods would mount the Secret of another owner", kind)
		}
	}
	after := reported(d, f, done)
	says(t, conditionOf(after, opsv1.DivaManagerReady), "False NameTaken: Secret ops-ssh belongs to another owner")
}
