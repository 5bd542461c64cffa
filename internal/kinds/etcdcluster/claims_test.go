// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/volumes"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func (w world) claimOf(serial int64) *corev1.PersistentVolumeClaim {
	return w.claims[model.MemberName(w.c, serial)]
}

// waiting makes a member's claim wait for its first volume.
func (w world) waiting(serial int64) world {
	claim := w.claimOf(serial)
	claim.Spec.VolumeName, claim.Status = "", corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	return w
}

func TestMembersAreReplacedOneAtATimeForAnotherClaim(t *testing.T) {
	claims := clustertest.New(clustertest.WithClaims, clustertest.StorageClass("slow"))
	n := func(serial int64) string { return model.MemberName(claims, serial) }
	moved := func(w world, serials ...int64) world {
		for _, serial := range serials {
			w.claimOf(serial).Spec.StorageClassName = new("fast")
		}
		return w
	}
	fast := clustertest.StorageClass("fast")
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"a successor joins first":              {observed(claims, 3).asks(fast), "add member " + n(3)},
		"of the only member, too":              {observed(clustertest.New(clustertest.WithClaims, clustertest.Sized(1)), 1).asks(fast), "add member " + n(3)},
		"it learns":                            {moved(observed(claims, 3).joining(3, true), 3).asks(fast), "wait for " + n(3) + " to join: the pod is starting"},
		"it has learned":                       {moved(observed(claims, 3).with(3, true), 3).asks(fast), "promote member " + n(3)},
		"it votes":                             {moved(observed(claims, 4), 3).asks(fast), "remove member " + n(2)},
		"it votes, and is not ready yet":       {moved(observed(claims, 4), 3).unprobed(3).asks(fast), "wait for " + n(3) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"the next one":                         {moved(observed(claims, 4), 3).asks(fast, clustertest.Sized(4)), "add member " + n(4)},
		"the last one leads, and hands over":   {leads(moved(observed(claims, 4), 1, 2, 3), 0).asks(fast), "move the leadership to " + n(1)},
		"one that is right stays":              {moved(observed(claims, 4), 3).asks(fast, clustertest.WithEnv("A", "1")), "remove member " + n(2)},
		"none while a member is not well":      {observed(claims, 3).down(1).asks(fast), "wait for " + n(1) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"a lost member goes before":            {observed(claims, 3).without(1).unclaimed(1).asks(fast), "remove member " + n(1)},
		"none without a quorum":                {observed(claims, 3).without(1, 2).asks(fast), "wait for a response of the cluster"},
		"none while it sleeps":                 {observed(claims, 3).asks(fast, clustertest.Hibernates), "nothing"},
		"after another version":                {observed(claims, 3).asks(fast, clustertest.Versioned("3.5.36")), "change " + n(1) + " to 3.5.36"},
		"fewer members, too":                   {moved(observed(claims, 5), 4).asks(fast, clustertest.Sized(3)), "remove member " + n(3)},
		"the spec is taken back":               {moved(observed(claims, 3).joining(3, true), 3), "remove member " + n(3)},
		"a learner waits for another volume":   {observed(clustertest.New(clustertest.WithClaims, clustertest.Storage("1Gi")), 3).joining(3, true).waiting(3).asks(clustertest.Storage("2Gi"), clustertest.Sized(4)), "remove member " + n(3)},
		"an edit that volumes follow is none":  {observed(clustertest.New(clustertest.WithClaims, clustertest.Storage("1Gi")), 3).asks(clustertest.Storage("2Gi")), "nothing"},
		"all are right":                        {moved(observed(claims, 3), 0, 1, 2).asks(fast), "nothing"},
		"all are right, and a field is edited": {moved(observed(claims, 3), 0, 1, 2).asks(fast, clustertest.WithEnv("A", "1")), "recreate " + n(1)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected the operator to %s, it is to %s", test.want, got)
			}
		})
	}
}

// Before the first members have a quorum, opcrew recreates a claim that never had a volume. A claim with a volume
// stays, because the volume may hold the log of a member.
func TestAClaimOfAFirstMemberIsMadeAgainUnlessItHasAVolume(t *testing.T) {
	w := observed(clustertest.New(clustertest.Unformed, clustertest.WithClaims, clustertest.StorageClass("missing")), 3).waiting(1).asks(clustertest.StorageClass("fast"))
	d := w.decide(w.c)
	for serial := range int64(3) {
		name, claim := model.MemberName(w.c, serial), w.claimOf(serial)
		declared := slices.ContainsFunc(w.children(w.c, d), func(child ensure.Child) bool {
			p, is := child.Object.(*corev1ac.PersistentVolumeClaimApplyConfiguration)
			return is && *p.Name == name
		})
		if goes := serial == 1; declared == goes || w.keeps(w.c, d)(claim) == goes || d.drop[name] != goes {
			t.Errorf("member %d: expected its claim and its pod to go: %v; the claim is declared: %v, the pod goes: %v", serial, goes, declared, d.drop[name])
		}
	}
	formed := observed(clustertest.New(clustertest.WithClaims, clustertest.StorageClass("missing")), 3).waiting(1).asks(clustertest.StorageClass("fast"))
	if d := formed.decide(formed.c); len(d.dropClaim) > 0 {
		t.Errorf("expected no claim of a formed cluster to be deleted under a member, got %v", d.dropClaim)
	}
}

func TestAClaimNotesWhatItWasCreatedFor(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims, clustertest.StorageClass("fast")), 3)
	claim := &corev1.PersistentVolumeClaim{}
	claim.Annotations = w.builder(w.c).Claim(w.members(w.c)[1]).Annotations
	if got := volumes.RequestedTerms(claim).StorageClassName; got == nil || *got != "fast" {
		t.Errorf("expected the claim to note class fast, got %v", claim.Annotations)
	}
}

func TestUpToDateNamesTheClaimThatHasItsMemberReplaced(t *testing.T) {
	for name, test := range map[string]struct {
		options []clustertest.Option
		paused  bool
		want    string
	}{
		"at once":            {want: "members are replaced one at a time, each by a new member with a new claim"},
		"once it is awake":   {options: []clustertest.Option{clustertest.Hibernates}, want: "members are replaced one at a time once spec.hibernate is false"},
		"once it may change": {paused: true, want: "members are replaced one at a time once the cluster is no longer paused"},
	} {
		w := observed(clustertest.New(clustertest.WithClaims, clustertest.StorageClass("slow")), 3).asks(append(test.options, clustertest.StorageClass("fast"))...)
		w.paused = test.paused
		got := conditionOf(reported(w), etcdv1beta2.EtcdClusterUpToDate)
		if want := "False Updating: 3 of 3 members do not match the spec yet; claim " + model.MemberName(w.c, 0) + " has storageClassName slow instead of fast: " + test.want; !strings.HasPrefix(got, want) {
			t.Errorf("%s: expected UpToDate to begin with\n%s, got\n%s", name, want, got)
		}
	}
}
