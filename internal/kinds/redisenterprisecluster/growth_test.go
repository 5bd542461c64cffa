// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/volumes"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// claimed gives each pod a volume claim of a class. Each pair holds the requested size and the size of the volume; ""
// means that the claim has no volume.
func (s *scene) claimed(class string, asksHas ...[2]string) {
	s.storage = volumes.Storage{Volumes: workload.Volumes{Patched: map[string]bool{}, Rigid: map[string]string{}, Unread: map[string]string{}}}
	for i, size := range asksHas {
		claim := &corev1.PersistentVolumeClaim{}
		claim.Name, claim.Spec.StorageClassName = fmt.Sprint("redis-enterprise-storage-example-", i), &class
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size[0])}
		claim.Status.Phase = corev1.ClaimPending
		if size[1] != "" {
			claim.Status.Phase = corev1.ClaimBound
			claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size[1])}
		}
		s.storage.Claims = append(s.storage.Claims, claim)
	}
}

// asking returns the claims whose requested size the plan increases, as "ordinal size".
func (s *scene) asking() string {
	var out []string
	for _, patch := range s.plan().Independent {
		_, ordinal, _ := strings.Cut(patch.Object.GetName(), "redis-enterprise-storage-example-")
		out = append(out, ordinal+" "+patch.Intent)
	}
	return strings.Join(out, ", ")
}

func TestVolumesGrowWhereTheyAreToAndCan(t *testing.T) {
	const name, upToDate = "redis-enterprise-storage-example-", "True AllUpToDate: Every pod matches the spec"
	const wayOut = "; to keep the volumes at their current size, set enablePersistentVolumeResize: false"
	as := func(asks, has string) [2]string { return [2]string{asks, has} }
	small := as("5Gi", "5Gi")
	for what, test := range map[string]struct {
		wanted   string
		claims   [][2]string
		but      func(*volumes.Storage)
		asking   string
		reported string
		status   string
	}{
		"they are not to":            {claims: [][2]string{small, small}, reported: upToDate, status: "Provisioned 2/2"},
		"they have what they are to": {wanted: "5Gi", claims: [][2]string{small, as("5Gi", "6Gi")}, reported: upToDate, status: "Provisioned 2/2"},
		"all are to": {
			wanted: "9Gi", claims: [][2]string{small, small}, asking: "0 9Gi, 1 9Gi", status: "Resizing 0/2",
			reported: "False VolumesGrowing: 0 of 2 volumes have the requested size; claim " + name + "0 has 5Gi of 9Gi",
		},
		"one has": {
			wanted: "9Gi", claims: [][2]string{as("9Gi", "9Gi"), as("9Gi", "5Gi")}, status: "Resizing 1/2",
			reported: "False VolumesGrowing: 1 of 2 volumes have the requested size; claim " + name + "1 has 5Gi of 9Gi",
		},
		"the cache is behind": {
			wanted: "9Gi", claims: [][2]string{small, as("9Gi", "9Gi")}, but: func(s *volumes.Storage) { s.Patched[name+"0"] = true }, status: "Resizing 1/2",
			reported: "False VolumesGrowing: 1 of 2 volumes have the requested size; claim " + name + "0 has 5Gi of 9Gi",
		},
		"a user has asked one for more": {wanted: "9Gi", claims: [][2]string{as("20Gi", "10Gi"), as("9Gi", "9Gi")}, reported: upToDate, status: "Provisioned 2/2"},
		"one has no volume yet":         {wanted: "9Gi", claims: [][2]string{as("9Gi", "9Gi"), as("5Gi", "")}, reported: upToDate, status: "Provisioning 1/2"},
		"their class does not let them": {
			wanted: "9Gi", claims: [][2]string{as("9Gi", "9Gi"), small}, but: func(s *volumes.Storage) { s.Rigid["fast"] = "it is rigid" }, status: "ResizeFailed 1/2",
			reported: "False VolumesFixed: claim " + name + "1 stays at 5Gi instead of 9Gi: it is rigid" + wayOut,
		},
		"their class does not let them, and they are large enough": {
			wanted: "9Gi", claims: [][2]string{as("5Gi", "10Gi")}, but: func(s *volumes.Storage) { s.Rigid["fast"] = "it is rigid" }, reported: upToDate, status: "Provisioned 1/1",
		},
		"their class cannot be read": {
			wanted: "9Gi", claims: [][2]string{small}, but: func(s *volumes.Storage) { s.Unread["fast"] = "the server is busy" }, status: "Resizing 0/1",
			reported: "False VolumesGrowing: 0 of 1 volumes have the requested size; claim " + name + "0 has 5Gi of 9Gi: the server is busy",
		},
		"their driver cannot": {
			wanted: "9Gi", claims: [][2]string{as("9Gi", "5Gi")}, but: func(s *volumes.Storage) {
				s.Claims[0].Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{
					corev1.ResourceStorage: corev1.PersistentVolumeClaimControllerResizeInfeasible,
				}
			}, status: "ResizeFailed 0/1",
			reported: "False VolumesFixed: claim " + name + "0 has 5Gi instead of the requested 9Gi: the storage driver reports ControllerResizeInfeasible" + wayOut,
		},
		"a file system waits for its pod": {
			wanted: "9Gi", claims: [][2]string{as("9Gi", "5Gi")}, but: func(s *volumes.Storage) {
				s.Claims[0].Status.Conditions = []corev1.PersistentVolumeClaimCondition{{
					Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue, Message: "Waiting for user to (re-)start a pod",
				}}
			}, status: "Resizing 0/1",
			reported: "False VolumesGrowing: 0 of 1 volumes have the requested size; claim " + name + "0 has 5Gi of 9Gi: Waiting for user to (re-)start a pod",
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := running(3, clustertest.With(persistentSpec))
			s.claimed("fast", test.claims...)
			if test.wanted != "" {
				s.storage.Wanted = resource.MustParse(test.wanted)
			}
			if test.but != nil {
				test.but(&s.storage)
			}
			if got := s.asking(); got != test.asking {
				t.Errorf("expected claims to be asked for %q, got %q", test.asking, got)
			}
			status := s.report().Status
			if got := conditionText(status.Conditions, "UpToDate"); got != test.reported {
				t.Errorf("expected UpToDate to be\n%s, got\n%s", test.reported, got)
			}
			if got := fmt.Sprintf("%s %s", status.PersistenceStatus.Status, status.PersistenceStatus.Succeeded); got != test.status {
				t.Errorf("expected the volumes to be said to be %s, got %s", test.status, got)
			}
		})
	}
}

// Volumes must grow even while other steps wait. A server whose disk is full crashes until it has more space, and
// meanwhile cannot receive its settings.
func TestVolumesGrowWhateverElseIsToBeDone(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"a pod is to be restarted": func(s *scene) { s.changed(0) },
		"a server is to be healed": func(s *scene) { s.apart = map[string]bool{"g1": true} },
		"two passwords are valid":  func(s *scene) { s.password("new", desired.Hash("old"), desired.Hash("new")); s.tuned() },
		"a server that crashes has yet to get a password": func(s *scene) {
			s.password("new", desired.Hash("old"), desired.Hash("new"))
			s.crash(0)
			s.known.TunedSince = time.Time{}
		},
		"a step waits for another try":        func(s *scene) { s.changed(0); s.known.RetryAt = clustertest.Noon.Add(time.Second) },
		"a password was taken away":           func(s *scene) { s.credentials.Users.Data["password"] = nil },
		"the servers have not been asked yet": func(s *scene) { s.seen = false },
	} {
		t.Run(name, func(t *testing.T) {
			s := running(3, clustertest.With(persistentSpec))
			s.claimed("fast", [2]string{"5Gi", "5Gi"}, [2]string{"9Gi", "9Gi"})
			s.storage.Wanted = resource.MustParse("9Gi")
			change(s)
			if got := s.asking(); got != "0 9Gi" {
				t.Errorf("expected the claim of pod 0 to ask for 9Gi, got %q", got)
			}
		})
	}
}

func TestWhichVolumesGrowFollowsFromTheSpecAndTheClaims(t *testing.T) {
	grows := true
	elastic := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, AllowVolumeExpansion: &grows}
	const on = "enablePersistentVolumeResize: true"
	for what, test := range map[string]struct {
		spec   string
		but    func(*scene, []*corev1.PersistentVolumeClaim)
		wanted string
		claims string
	}{
		"as large as the spec says": {spec: "volumeSize: 9Gi, " + on, wanted: "9Gi", claims: "012"},
		"the switch is off":         {spec: "volumeSize: 9Gi", wanted: "0", claims: "012"},
		"no size is written":        {spec: on, wanted: "0", claims: "012"}, // otherwise the size would follow the memory, and a volume that has grown cannot shrink again
		"there are to be none":      {spec: "enabled: false, volumeSize: 9Gi, " + on, wanted: "0", claims: "012"},
		"of another class":          {spec: "storageClassName: slow, volumeSize: 9Gi, " + on, wanted: "0", claims: "012"},
		"while it sleeps":           {spec: "volumeSize: 9Gi, " + on, wanted: "9Gi", claims: "012", but: func(s *scene, _ []*corev1.PersistentVolumeClaim) { *s.Set.Spec.Replicas = 0; s.Pods = nil }},
		"one is going": {spec: "volumeSize: 9Gi, " + on, wanted: "9Gi", claims: "0-2", but: func(_ *scene, all []*corev1.PersistentVolumeClaim) {
			all[1].DeletionTimestamp, all[1].Finalizers = &metav1.Time{Time: clustertest.Noon}, []string{"x/y"}
		}},
		"one has lost its labels":    {spec: "volumeSize: 9Gi, " + on, wanted: "9Gi", claims: "012", but: func(_ *scene, all []*corev1.PersistentVolumeClaim) { all[1].Labels = nil }},
		"that of a pod without node": {spec: "volumeSize: 9Gi, " + on, wanted: "9Gi", claims: "0-2", but: func(s *scene, all []*corev1.PersistentVolumeClaim) { all[1].Labels = nil; s.pod(1).Spec.NodeName = "" }},
	} {
		t.Run(what, func(t *testing.T) {
			spec := test.spec
			if !strings.Contains(spec, "storageClassName") {
				spec += ", storageClassName: fast"
			}
			s := running(3, clustertest.With("persistentSpec: {"+spec+"}"))
			s.volumes(true, "fast")
			s.claimed("fast", [2]string{"5Gi", "5Gi"}, [2]string{"5Gi", "5Gi"}, [2]string{"5Gi", "5Gi"})
			for _, claim := range s.storage.Claims {
				claim.Namespace, claim.Labels = s.Namespace, desired.Selector(s.Cluster)
			}
			if test.but != nil {
				test.but(s, s.storage.Claims)
			}
			if got := s.observed(t, elastic); fmt.Sprintf("%s %s", got.Wanted.String(), ordinals(got)) != test.wanted+" "+test.claims {
				t.Errorf("expected claims %s to be of %s, got %s of %s", test.claims, test.wanted, ordinals(got), got.Wanted.String())
			}
		})
	}
}

// observed returns what a reconciler reads about the volume claims.
func (s *scene) observed(t *testing.T, class *storagev1.StorageClass) volumes.Storage {
	t.Helper()
	builder := fake.NewClientBuilder().WithObjects(class)
	for _, claim := range s.storage.Claims {
		builder.WithObjects(claim)
	}
	api, now := builder.Build(), clocktesting.NewFakeClock(clustertest.Noon)
	r := &reconciler{Tools: &kit.Tools{Client: api, Live: api, Clock: now, Children: &ensure.Applier{}}, classes: workload.Classes{Live: api, Clock: now}}
	f := s.facts
	f.storage = volumes.Storage{}
	if err := r.observeClaims(t.Context(), s.Cluster, &f); err != nil {
		t.Fatal(err)
	}
	return f.storage
}

func TestWhatAPodHadComesBackWithItOnlyIfItsClaimHasAVolume(t *testing.T) {
	for what, test := range map[string]struct {
		but  func(*scene, *corev1.PersistentVolumeClaim)
		want bool
	}{
		"it has one":              {func(*scene, *corev1.PersistentVolumeClaim) {}, true},
		"and has lost its labels": {func(_ *scene, claim *corev1.PersistentVolumeClaim) { claim.Labels = nil }, true},
		"it has none yet":         {func(_ *scene, claim *corev1.PersistentVolumeClaim) { claim.Spec.VolumeName = "" }, false},
		"it was made for it, and the pod has never run": {func(s *scene, claim *corev1.PersistentVolumeClaim) { provisioned(s, claim, -time.Second) }, false},
		"it was recreated while the pod waited":         {func(s *scene, claim *corev1.PersistentVolumeClaim) { provisioned(s, claim, time.Minute) }, false},
		"an earlier pod had it":                         {func(s *scene, claim *corev1.PersistentVolumeClaim) { provisioned(s, claim, -time.Minute) }, true},
		"it was made from a snapshot": {func(s *scene, claim *corev1.PersistentVolumeClaim) {
			provisioned(s, claim, time.Minute)
			claim.Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "VolumeSnapshot", Name: "before"}
		}, true},
		"it is a volume that there was": {func(s *scene, claim *corev1.PersistentVolumeClaim) {
			provisioned(s, claim, time.Minute)
			claim.Spec.VolumeName = "pvc-of-another"
		}, true},
		"it has lost it":         {func(_ *scene, claim *corev1.PersistentVolumeClaim) { claim.Status.Phase = corev1.ClaimLost }, false},
		"there is another claim": {func(_ *scene, claim *corev1.PersistentVolumeClaim) { claim.Name = "other" }, false},
		"the pod has a node":     {func(s *scene, _ *corev1.PersistentVolumeClaim) { s.pod(1).Spec.NodeName = "node" }, false},
		"it has had none for a bit": {func(s *scene, _ *corev1.PersistentVolumeClaim) {
			s.pod(1).CreationTimestamp = metav1.NewTime(clustertest.Noon)
		}, false},
		"it is being deleted": {func(_ *scene, claim *corev1.PersistentVolumeClaim) {
			claim.DeletionTimestamp, claim.Finalizers = &metav1.Time{Time: clustertest.Noon}, []string{"x/y"}
		}, false},
	} {
		t.Run(what, func(t *testing.T) {
			s := running(3, clustertest.With(persistentSpec))
			s.volumes(true, "")
			s.claimed("fast", [2]string{"5Gi", "5Gi"}, [2]string{"5Gi", "5Gi"}, [2]string{"5Gi", "5Gi"})
			for _, claim := range s.storage.Claims {
				claim.Namespace, claim.Labels, claim.Spec.VolumeName = s.Namespace, desired.Selector(s.Cluster), "pv-"+claim.Name
			}
			s.pod(1).Spec.NodeName = ""
			test.but(s, s.storage.Claims[1])
			s.storage = s.observed(t, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}})
			if got := s.decide().Ring.Pods[1].Returns; got != test.want {
				t.Errorf("expected the pod's data to come back: %v, got %v", test.want, got)
			}
		})
	}
}

// provisioned gives a claim an empty volume that was provisioned for this claim. It sets the claim's creation time to
// that of the second pod plus the given time.
func provisioned(s *scene, claim *corev1.PersistentVolumeClaim, after time.Duration) {
	claim.UID, claim.Spec.VolumeName = "0123", "pvc-0123"
	claim.CreationTimestamp = metav1.NewTime(s.pod(1).CreationTimestamp.Add(after))
}

// ordinals returns the ordinals of the pods whose claims exist.
func ordinals(s volumes.Storage) string {
	out := ""
	for i, claim := range s.Claims {
		if claim == nil {
			out += "-"
			continue
		}
		out += fmt.Sprint(i)
	}
	return out
}

func TestAClusterWithoutVolumesSaysNothingOfThem(t *testing.T) {
	if got := running(3).report().Status.PersistenceStatus; got != nil {
		t.Errorf("expected nothing, got %+v", got)
	}
}
