// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
)

// madeAt sets the creation time of the named claims to a duration before noon; without names, of all claims.
func madeAt(before time.Duration, names ...string) factOption {
	return func(f *facts) {
		for name, claim := range f.claims {
			if len(names) == 0 {
				claim.CreationTimestamp = metav1.NewTime(noon.Add(-before))
			}
			for _, each := range names {
				if each == name {
					claim.CreationTimestamp = metav1.NewTime(noon.Add(-before))
				}
			}
		}
	}
}

func without(name string) factOption { return func(f *facts) { delete(f.claims, name) } }

func isGoing(name string) factOption {
	return func(f *facts) {
		f.claims[name].DeletionTimestamp = &metav1.Time{Time: noon}
		f.claims[name].Spec.VolumeName = "pv-1"
	}
}

func TestAClaimThatWasDeletedAndRecreatedIsReported(t *testing.T) {
	const week = 7 * 24 * time.Hour
	restored := func(f *facts) {
		f.claims["ops-extra"].Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "VolumeSnapshot", Name: "friday"}
	}
	lost := []factOption{madeAt(week), madeAt(time.Hour, "wi-ops-client-1")}
	const words = "All 4 claims are bound to volumes; claims were deleted and recreated, most recently at 2026-08-01T11:00:00Z: wi-ops-client-1; the data of these claims is lost unless you have restored it"
	earlier := ownedBy("ops-extra", metav1.OwnerReference{APIVersion: "ops.xx.com/v1", Kind: "Diva", Name: "ops", UID: "uid-of-an-earlier-one"})
	type look struct {
		replicas int32
		options  []factOption
	}
	for what, test := range map[string]struct {
		looks []look
		want  string
	}{
		"all are of one time":                {[]look{{2, []factOption{madeAt(week)}}, {2, []factOption{madeAt(week)}}}, "True Bound: All 4 claims are bound to volumes"},
		"one is younger than the others":     {[]look{{2, lost}}, "True Bound: All 4 claims are bound to volumes"},
		"one came back":                      {[]look{{2, []factOption{madeAt(week)}}, {2, lost}}, "True ClaimRemade: " + words},
		"it stays reported":                  {[]look{{2, []factOption{madeAt(week)}}, {2, lost}, {2, lost}}, "True ClaimRemade: " + words},
		"one came back unseen":               {[]look{{2, []factOption{madeAt(week)}}, {2, []factOption{madeAt(week), without("wi-ops-client-1")}}, {2, lost}}, "True ClaimRemade: " + words},
		"one went with an earlier Diva":      {[]look{{2, []factOption{madeAt(week), earlier}}, {2, []factOption{madeAt(week), madeAt(time.Hour, "ops-extra")}}}, "True Bound: All 4 claims are bound to volumes"},
		"one was going from the start":       {[]look{{2, []factOption{madeAt(week), isGoing("ops-extra")}}, {2, []factOption{madeAt(week), madeAt(time.Hour, "ops-extra")}}}, "True Bound: All 4 claims are bound to volumes"},
		"one came back long ago":             {[]look{{2, []factOption{madeAt(week)}}, {2, []factOption{madeAt(week), madeAt(25*time.Hour, "wi-ops-client-1")}}}, "True Bound: All 4 claims are bound to volumes"},
		"one was made of a backup":           {[]look{{2, []factOption{madeAt(week)}}, {2, []factOption{madeAt(week), madeAt(time.Hour, "ops-extra"), restored}}}, "True Bound: All 4 claims are bound to volumes"},
		"a further client has its first":     {[]look{{1, []factOption{madeAt(week)}}, {2, lost}}, "True Bound: All 4 claims are bound to volumes"},
		"clients come one by one":            {[]look{{2, []factOption{madeAt(week), without("wi-ops-client-0")}}, {2, []factOption{madeAt(week), madeAt(week-time.Second, "wi-ops-client-0")}}}, "True Bound: All 4 claims are bound to volumes"},
		"a client goes and has its own back": {[]look{{2, lost}, {1, []factOption{madeAt(week)}}, {2, lost}}, "True Bound: All 4 claims are bound to volumes"},
	} {
		t.Run(what, func(t *testing.T) {
			var status *opsv1.StorageStatus
			var d *opsv1.Diva
			for _, look := range test.looks {
				d = newDiva(look.replicas)
				d.Status.Storage = status
				reported(d, observed(t, d, settled(t), look.options...), done)
				status = d.Status.Storage
			}
			same(t, "StorageReady", test.want, conditionOf(d, opsv1.DivaStorageReady))
			if storage.Recreated(d.Status.Storage) != "" {
				says(t, d.Status.Message, "claims were deleted and recreated", "wi-ops-client-1")
				same(t, "the next look", 23*time.Hour, planned(d, observed(t, d, settled(t))).Again)
			}
		})
	}
}

func TestAClaimThatIsBeingDeletedIsReportedWithWhatBecomesOfIt(t *testing.T) {
	const end = ", together with volume pv-1 unless the volume has the reclaim policy Retain, and an empty claim replaces it. Copy the data that you need before then"
	for what, test := range map[string]struct {
		options []factOption
		want    string
	}{
		"a client's":      {[]factOption{isGoing("wi-ops-client-0")}, "False ClaimTerminating: claim wi-ops-client-0 is being deleted, which cannot be undone. Kubernetes removes the claim as soon as pod ops-client-0 ends" + end},
		"the manager's":   {[]factOption{isGoing("ops-extra")}, "False ClaimTerminating: claim ops-extra is being deleted, which cannot be undone. Kubernetes removes the claim as soon as pod ops-manager-0 ends" + end},
		"one of no pod's": {[]factOption{isGoing("ops-extra"), nothingRuns}, "False ClaimTerminating: claim ops-extra is being deleted, which cannot be undone. Kubernetes removes the claim as soon as no pod uses it" + end},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDiva(1)
			reported(d, observed(t, d, settled(t), test.options...), done)
			same(t, "StorageReady", test.want, conditionOf(d, opsv1.DivaStorageReady))
		})
	}
}

func TestAClaimThatIsDeletedIsAnEventOnceAndOneMoreWhenItIsBack(t *testing.T) {
	at := func(before *opsv1.Diva, options ...factOption) *opsv1.Diva {
		d := before.DeepCopy()
		return reported(d, observed(t, d, settled(t), options...), done)
	}
	r := &reconciler{}
	whole := at(newDiva(1), madeAt(48*time.Hour))
	going := at(whole, madeAt(48*time.Hour), isGoing("wi-ops-client-0"))
	back := at(going, madeAt(48*time.Hour), madeAt(time.Hour, "wi-ops-client-0"))
	for _, test := range []struct {
		what          string
		before, after *opsv1.Diva
		want          string
	}{
		{"nothing", newDiva(1), whole, ""},
		{"a deletion", whole, going, opsv1.ReasonClaimTerminating},
		{"a deletion that was reported", going, going.DeepCopy(), ""},
		{"the new claim", going, back, opsv1.ReasonClaimRemade},
		{"a new claim that was reported", back, back.DeepCopy(), ""},
	} {
		got := ""
		for _, event := range r.transitions(test.before, test.after) {
			got += event.Reason
		}
		same(t, test.what, test.want, got)
	}
	if meta.FindStatusCondition(back.Status.Conditions, opsv1.DivaReady).Status != metav1.ConditionTrue {
		t.Error("expected a claim that is back to block nothing")
	}
}
