// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/volumes"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// sizedVolumes sets, for each member, the size that the claim requests and the size of its volume.
func (w world) sizedVolumes(asksHas ...[2]string) world {
	for serial, size := range asksHas {
		claim := w.claimOf(int64(serial))
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size[0])}
		claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size[1])}
	}
	return w
}

// lookAtVolumes reads the claims and their StorageClasses, as opcrew does.
func (w world) lookAtVolumes(t *testing.T) world {
	t.Helper()
	grows := true
	elastic := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "elastic"}, AllowVolumeExpansion: &grows}
	rigid := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "rigid"}}
	live, clock := fake.NewClientBuilder().WithObjects(elastic, rigid).Build(), clocktesting.NewFakePassiveClock(clustertest.Noon)
	r := &reconciler{Tools: &kit.Tools{Live: live, Children: &ensure.Applier{}}, classes: workload.Classes{Live: live, Clock: clock}}
	if err := r.observeVolumes(t.Context(), w.c, &w.facts); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestVolumesGetTheSizeOfTheSpecWhereTheyCan(t *testing.T) {
	as := func(asks, has string) [2]string { return [2]string{asks, has} }
	one, two := as("1Gi", "1Gi"), as("2Gi", "2Gi")
	const upToDate, members = "True AllUpToDate: All members match the spec", "3 of 3 members are ready"
	infeasible := func(w world) {
		w.claimOf(0).Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{
			corev1.ResourceStorage: corev1.PersistentVolumeClaimControllerResizeInfeasible,
		}
	}
	for name, test := range map[string]struct {
		class, size string
		claims      [][2]string
		but         func(world)
		options     []clustertest.Option
		patched     string // members and the sizes that their claims should request
		want        string // message of UpToDate; CLAIM stands for the claim of member 0
	}{
		"they have it":                {class: "elastic", size: "1Gi", claims: [][2]string{one, one, one}, want: upToDate},
		"a larger one was given":      {class: "elastic", size: "1Gi", claims: [][2]string{one, one, as("1Gi", "2Gi")}, want: upToDate},
		"they are to grow":            {class: "elastic", size: "2Gi", claims: [][2]string{one, one, two}, patched: "0=2Gi 1=2Gi", want: "False VolumesGrowing: 1 of 3 volumes have the desired size; claim CLAIM has 1Gi of 2Gi"},
		"they grow":                   {class: "elastic", size: "2Gi", claims: [][2]string{as("2Gi", "1Gi"), two, two}, want: "False VolumesGrowing: 2 of 3 volumes have the desired size; claim CLAIM has 1Gi of 2Gi"},
		"they are to, asleep":         {class: "elastic", size: "2Gi", claims: [][2]string{one, two, two}, options: []clustertest.Option{clustertest.Hibernates}, patched: "0=2Gi", want: "False VolumesGrowing: 2 of 3 volumes have the desired size; claim CLAIM has 1Gi of 2Gi"},
		"their class does not let it": {class: "rigid", size: "2Gi", claims: [][2]string{one, one, one}, want: "False VolumesFixed: claim CLAIM stays at 1Gi instead of 2Gi: StorageClass rigid does not let volumes grow; set allowVolumeExpansion in the class if its driver supports that; alternatively, set " + volumes.StorageField + " to the current size of the volumes, or choose a StorageClass that lets them grow"},
		"there is no such class":      {class: "gone", size: "2Gi", claims: [][2]string{one, one, one}, want: "False VolumesFixed: claim CLAIM stays at 1Gi instead of 2Gi: StorageClass gone does not exist, so the volume cannot grow; alternatively, set " + volumes.StorageField + " to the current size of the volumes, or choose a StorageClass that lets them grow"},
		"their driver cannot":         {class: "elastic", size: "9Gi", claims: [][2]string{as("9Gi", "1Gi"), two, two}, but: infeasible, patched: "1=9Gi 2=9Gi", want: "False VolumesFixed: claim CLAIM has 1Gi instead of the requested 9Gi: the storage driver reports ControllerResizeInfeasible; alternatively, set " + volumes.StorageField + " to the current size of the volumes, or choose a StorageClass that lets them grow"},
		"and the size is taken back":  {class: "elastic", size: "2Gi", claims: [][2]string{as("9Gi", "1Gi"), two, two}, but: infeasible, patched: "0=2Gi", want: "False VolumesFixed: claim CLAIM has 1Gi instead of the requested 9Gi: the storage driver reports ControllerResizeInfeasible; alternatively, set " + volumes.StorageField + " to the current size of the volumes, or choose a StorageClass that lets them grow"},
		"to what they have":           {class: "elastic", size: "1Gi", claims: [][2]string{as("9Gi", "1Gi"), one, one}, but: infeasible, want: upToDate},
		"they are to shrink":          {class: "elastic", size: "1Gi", claims: [][2]string{two, one, one}, want: "False VolumesFixed: claim CLAIM requests 2Gi instead of 1Gi, and volumes cannot shrink: set " + volumes.StorageField + " to 2Gi, or move the data to a new cluster"},
		"one is to be replaced":       {class: "elastic", size: "2Gi", claims: [][2]string{one, two, two}, but: func(w world) { w.claimOf(0).Spec.StorageClassName = new("rigid") }, want: "False Updating: 1 of 3 members do not match the spec yet; claim CLAIM has storageClassName rigid instead of elastic: members are replaced one at a time, each by a new member with a new claim"},
	} {
		t.Run(name, func(t *testing.T) {
			w := observed(clustertest.New(clustertest.WithClaims, clustertest.StorageClass(test.class)), 3).asks(append(test.options, clustertest.Storage(test.size))...).sizedVolumes(test.claims...)
			if test.but != nil {
				test.but(w)
			}
			w = w.lookAtVolumes(t)
			var asked []string
			for _, patch := range planAt(w.c, w.facts, clustertest.Noon).Independent {
				for serial := range int64(3) {
					if patch.Object.GetName() == model.MemberName(w.c, serial) {
						asked = append(asked, strings.Join([]string{string(rune('0' + serial)), patch.Intent}, "="))
					}
				}
			}
			slices.Sort(asked)
			if got := strings.Join(asked, " "); got != test.patched {
				t.Errorf("expected claims to ask for %q, got %q", test.patched, got)
			}
			c := reported(w)
			want := strings.ReplaceAll(test.want, "CLAIM", model.MemberName(w.c, 0))
			if got := conditionOf(c, etcdv1beta2.EtcdClusterUpToDate); got != want {
				t.Errorf("expected UpToDate to be\n%s, got\n%s", want, got)
			}
			if _, words, of := strings.Cut(want, "False Volumes"); of && len(test.options) == 0 {
				_, words, _ = strings.Cut(words, ": ")
				if got := conditionOf(c, etcdv1beta2.EtcdClusterReady); got != "True AllMembersReady: "+members+"; "+words {
					t.Errorf("expected members that serve to be ready, with a note about their volumes, got\n%s", got)
				}
			}
		})
	}
}

func TestClassesAreLookedAtAgainWhileAVolumeIsTooSmall(t *testing.T) {
	for class, want := range map[string]bool{"elastic": false, "rigid": true} {
		w := observed(clustertest.New(clustertest.WithClaims, clustertest.StorageClass(class), clustertest.Storage("1Gi")), 3).asks(clustertest.Storage("2Gi")).lookAtVolumes(t)
		if again := w.again(w.c, w.decide(w.c)); again > 0 != want {
			t.Errorf("class %s: expected another look: %v, got one after %s", class, want, again)
		}
	}
}
