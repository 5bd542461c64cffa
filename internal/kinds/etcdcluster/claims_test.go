// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// claiming changes what members' claims are to be.
func claiming(change func(*corev1.PersistentVolumeClaimSpec)) option {
	return func(c *etcdv1beta2.EtcdCluster) { change(policy(c).PersistentVolumeClaimSpec) }
}

func classed(name string) option {
	return claiming(func(spec *corev1.PersistentVolumeClaimSpec) { spec.StorageClassName = &name })
}

func moded(modes ...corev1.PersistentVolumeAccessMode) option {
	return claiming(func(spec *corev1.PersistentVolumeClaimSpec) { spec.AccessModes = modes })
}

func stored(size string) option {
	return claiming(func(spec *corev1.PersistentVolumeClaimSpec) {
		spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	})
}

func (w world) claimOf(serial int64) *corev1.PersistentVolumeClaim {
	return w.claims[memberName(w.c, serial)]
}

// waiting has the claim of a member never have had a volume.
func (w world) waiting(serial int64) world {
	claim := w.claimOf(serial)
	claim.Spec.VolumeName, claim.Status = "", corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	return w
}

func TestAClaimDiffersInWhatTheSpecAsksForAndItHasNotAndWasNotCreatedFor(t *testing.T) {
	const rwo, rwx = corev1.ReadWriteOnce, corev1.ReadWriteMany
	labelled := claiming(func(spec *corev1.PersistentVolumeClaimSpec) {
		spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}
	})
	gold := claiming(func(spec *corev1.PersistentVolumeClaimSpec) { spec.VolumeAttributesClassName = new("gold") })
	for name, test := range map[string]struct {
		created []option
		but     func(*corev1.PersistentVolumeClaim)
		asks    []option
		want    string
	}{
		"nothing was edited":            {},
		"the class was edited":          {created: []option{classed("slow")}, asks: []option{classed("fast")}, want: "is of storageClassName slow and not fast"},
		"a class is named":              {asks: []option{classed("fast")}, want: "is of storageClassName none and not fast"},
		"a default class is named":      {but: func(p *corev1.PersistentVolumeClaim) { p.Spec.StorageClassName = new("fast") }, asks: []option{classed("fast")}},
		"a default class was filled in": {but: func(p *corev1.PersistentVolumeClaim) { p.Spec.StorageClassName = new("fast") }},
		"no class, and none":            {asks: []option{classed("")}},
		"a webhook gave it another":     {created: []option{classed("fast")}, but: func(p *corev1.PersistentVolumeClaim) { p.Spec.StorageClassName = new("faster") }},
		"and the spec was edited since": {created: []option{classed("fast")}, but: func(p *corev1.PersistentVolumeClaim) { p.Spec.StorageClassName = new("faster") }, asks: []option{classed("slow")}, want: "is of storageClassName faster and not slow"},
		"an earlier opcrew noted nothing": {
			created: []option{classed("slow")}, but: func(p *corev1.PersistentVolumeClaim) { p.Annotations = nil }, asks: []option{classed("fast")},
			want: "is of storageClassName slow and not fast",
		},
		"and the two are the same":     {created: []option{classed("slow")}, but: func(p *corev1.PersistentVolumeClaim) { p.Annotations = nil }},
		"the access modes were edited": {asks: []option{moded(rwx)}, want: "has accessModes [ReadWriteOnce] and not [ReadWriteMany]"},
		"their order was":              {created: []option{moded(rwo, rwx)}, asks: []option{moded(rwx, rwo, rwo)}},
		"the selector was edited":      {asks: []option{labelled}, want: "has another selector"},
		"the attributes class was":     {asks: []option{gold}, want: "is of volumeAttributesClassName none and not gold"},
		"somebody else set attributes": {but: func(p *corev1.PersistentVolumeClaim) { p.Spec.VolumeAttributesClassName = new("silver") }},
		"the size was edited":          {created: []option{stored("1Gi")}, asks: []option{stored("2Gi")}}, // the volume grows
		"and it never had a volume":    {created: []option{stored("1Gi")}, but: pending, asks: []option{stored("2Gi")}, want: "waits for a volume of 1Gi and not 2Gi"},
		"a webhook has it ask for more": {
			created: []option{stored("1Gi")}, but: func(p *corev1.PersistentVolumeClaim) {
				pending(p)
				p.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("4Gi")}
			},
		},
		"it has lost its volume":        {created: []option{stored("1Gi")}, but: lostVolume, asks: []option{stored("2Gi")}},
		"it is bound to a volume by us": {created: []option{stored("1Gi")}, but: binding, asks: []option{stored("2Gi")}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(append([]option{withClaims}, test.created...)...)
			w := observed(c, 3)
			claim := w.claimOf(1)
			claim.Annotations = map[string]string{claimAnnotation: encoded(termsOf(claim.Spec))}
			if test.but != nil {
				test.but(claim)
			}
			got := claimDiffers(w.asks(test.asks...).c, claim)
			if want := test.want; got != want && got != "claim "+claim.Name+" "+want {
				t.Errorf("expected the difference to be %q, got %q", want, got)
			}
		})
	}
}

func pending(claim *corev1.PersistentVolumeClaim) {
	claim.Spec.VolumeName, claim.Status.Phase = "", corev1.ClaimPending
}

func lostVolume(claim *corev1.PersistentVolumeClaim) { claim.Status.Phase = corev1.ClaimLost }

func binding(claim *corev1.PersistentVolumeClaim) { claim.Status.Phase = corev1.ClaimPending }

func TestMembersAreReplacedOneAtATimeForAnotherClaim(t *testing.T) {
	claims := newCluster(withClaims, classed("slow"))
	n := func(serial int64) string { return memberName(claims, serial) }
	moved := func(w world, serials ...int64) world {
		for _, serial := range serials {
			w.claimOf(serial).Spec.StorageClassName = new("fast")
		}
		return w
	}
	fast := classed("fast")
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"a successor joins first":              {observed(claims, 3).asks(fast), "add member " + n(3)},
		"of the only member, too":              {observed(newCluster(withClaims, sized(1)), 1).asks(fast), "add member " + n(3)},
		"it learns":                            {moved(observed(claims, 3).joining(3, true), 3).asks(fast), "wait for " + n(3) + " to join: it is starting"},
		"it has learned":                       {moved(observed(claims, 3).with(3, true), 3).asks(fast), "promote member " + n(3)},
		"it votes":                             {moved(observed(claims, 4), 3).asks(fast), "remove member " + n(2)},
		"it votes, and is not ready yet":       {moved(observed(claims, 4), 3).unprobed(3).asks(fast), "wait for " + n(3) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"the next one":                         {moved(observed(claims, 4), 3).asks(fast, sized(4)), "add member " + n(4)},
		"the last one leads, and hands over":   {leads(moved(observed(claims, 4), 1, 2, 3), 0).asks(fast), "move the lead to " + n(1)},
		"one that is right stays":              {moved(observed(claims, 4), 3).asks(fast, withEnv("A", "1")), "remove member " + n(2)},
		"none while a member is not well":      {observed(claims, 3).down(1).asks(fast), "wait for " + n(1) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"a lost member goes before":            {observed(claims, 3).without(1).unclaimed(1).asks(fast), "remove member " + n(1)},
		"none without a quorum":                {observed(claims, 3).without(1, 2).asks(fast), "wait for an answer of the cluster"},
		"none while it sleeps":                 {observed(claims, 3).asks(fast, hibernates), "nothing"},
		"after another version":                {observed(claims, 3).asks(fast, versioned("3.5.36")), "change " + n(1) + " to 3.5.36"},
		"fewer members, too":                   {moved(observed(claims, 5), 4).asks(fast, sized(3)), "remove member " + n(3)},
		"the spec is taken back":               {moved(observed(claims, 3).joining(3, true), 3), "remove member " + n(3)},
		"a learner waits for another volume":   {observed(newCluster(withClaims, stored("1Gi")), 3).joining(3, true).waiting(3).asks(stored("2Gi"), sized(4)), "remove member " + n(3)},
		"an edit that volumes follow is none":  {observed(newCluster(withClaims, stored("1Gi")), 3).asks(stored("2Gi")), "nothing"},
		"all are right":                        {moved(observed(claims, 3), 0, 1, 2).asks(fast), "nothing"},
		"all are right, and a field is edited": {moved(observed(claims, 3), 0, 1, 2).asks(fast, withEnv("A", "1")), "make " + n(1) + " anew"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected the operator to %s, it is to %s", test.want, got)
			}
		})
	}
}

// Before the cluster is formed a claim that never had a volume is made again; one that has may hold a log.
func TestAClaimOfAFirstMemberIsMadeAgainUnlessItHasAVolume(t *testing.T) {
	w := observed(newCluster(unformed, withClaims, classed("missing")), 3).waiting(1).asks(classed("fast"))
	d := w.decide(w.c)
	for serial := range int64(3) {
		name, claim := memberName(w.c, serial), w.claimOf(serial)
		declared := slices.ContainsFunc(w.children(w.c, d), func(child ensure.Child) bool {
			p, is := child.Object.(*corev1ac.PersistentVolumeClaimApplyConfiguration)
			return is && *p.Name == name
		})
		if goes := serial == 1; declared == goes || w.stays(w.c, d)(claim) == goes || d.drop[name] != goes {
			t.Errorf("member %d: expected its claim and its pod to go: %v; the claim is declared: %v, the pod goes: %v", serial, goes, declared, d.drop[name])
		}
	}
	formed := observed(newCluster(withClaims, classed("missing")), 3).waiting(1).asks(classed("fast"))
	if d := formed.decide(formed.c); len(d.dropClaim) > 0 {
		t.Errorf("expected no claim of a formed cluster to be deleted under a member, got %v", d.dropClaim)
	}
}

func TestAClaimNotesWhatItWasCreatedFor(t *testing.T) {
	w := observed(newCluster(withClaims, classed("fast")), 3)
	claim := &corev1.PersistentVolumeClaim{}
	claim.Annotations = w.claim(w.c, w.members(w.c)[1]).Annotations
	if got := deref(askedTerms(claim).StorageClassName); got != "fast" {
		t.Errorf("expected the claim to note class fast, got %q in %v", got, claim.Annotations)
	}
}

func TestUpToDateNamesTheClaimThatHasItsMemberReplaced(t *testing.T) {
	for name, test := range map[string]struct {
		options []option
		paused  bool
		want    string
	}{
		"at once":            {want: "members are replaced one at a time, each by a new one on a new claim"},
		"once it is awake":   {options: []option{hibernates}, want: "members are replaced one at a time once spec.hibernate is false"},
		"once it may change": {paused: true, want: "members are replaced one at a time once the cluster is not paused"},
	} {
		w := observed(newCluster(withClaims, classed("slow")), 3).asks(append(test.options, classed("fast"))...)
		w.paused = test.paused
		got := conditionOf(report(w), etcdv1beta2.EtcdClusterUpToDate)
		if want := "False Updating: 3 of 3 members are not yet as the spec says; claim " + memberName(w.c, 0) + " is of storageClassName slow and not fast: " + test.want; !strings.HasPrefix(got, want) {
			t.Errorf("%s: expected UpToDate to begin with\n%s, got\n%s", name, want, got)
		}
	}
}
