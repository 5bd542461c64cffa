// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
)

// set is the StatefulSet of the plan.
func (s *scene) set(t *testing.T) *appsv1ac.StatefulSetApplyConfiguration {
	t.Helper()
	for _, child := range s.plan().Children {
		if set, ok := child.Object.(*appsv1ac.StatefulSetApplyConfiguration); ok {
			return set
		}
	}
	t.Fatal("expected a StatefulSet to be declared")
	return nil
}

// volumesOf are the claims that a StatefulSet asks for, as "class size", and "none" where the data is in memory.
func volumesOf(t *testing.T, set *appsv1ac.StatefulSetApplyConfiguration) string {
	t.Helper()
	var out []string
	for _, volume := range set.Spec.Template.Spec.Volumes {
		if *volume.Name == dataVolume {
			out = append(out, "none")
		}
	}
	for _, claim := range set.Spec.VolumeClaimTemplates {
		class, size := "", (*claim.Spec.Resources.Requests)[corev1.ResourceStorage]
		if claim.Spec.StorageClassName != nil {
			class = *claim.Spec.StorageClassName
		}
		out = append(out, class+" "+size.String())
	}
	return strings.Join(out, ", ")
}

func TestVolumesStayAsTheClusterWasMadeWhateverIsAskedForThen(t *testing.T) {
	const remedy = "; volumes are chosen when a cluster is made: make another and move the data, or put persistentSpec back"
	for name, test := range map[string]struct {
		spec       string
		persistent bool
		class      string
		want, told string
	}{
		"as they were asked for": {spec: "persistentSpec: {storageClassName: fast, volumeSize: 5Gi}", persistent: true, class: "fast", want: "fast 5Gi"},
		"none":                   {spec: "{}", want: "none"},
		"larger ones for pods that come": {
			spec: "persistentSpec: {storageClassName: fast, volumeSize: 9Gi}", persistent: true, class: "fast", want: "fast 9Gi",
		},
		"volumes are asked for later": {
			spec: persistentSpec, want: "none", told: "False VolumesFixed: persistentSpec asks for volumes, and the pods were made without" + remedy,
		},
		"they are turned off": {
			spec: `persistentSpec: {enabled: false}`, persistent: true, class: "fast", want: "fast 5Gi",
			told: "False VolumesFixed: The spec asks for no volumes, and the pods were made with them" + remedy,
		},
		"another class": {
			spec: `persistentSpec: {storageClassName: slow, volumeSize: 9Gi}`, persistent: true, class: "fast", want: "fast 5Gi",
			told: "False VolumesFixed: persistentSpec asks for volumes of slow, and those of the pods are of fast" + remedy,
		},
		"the class is taken away": {
			spec: persistentSpec, persistent: true, class: "fast", want: "fast 5Gi",
			told: "False VolumesFixed: persistentSpec asks for volumes of the default storage class, and those of the pods are of fast" + remedy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(3, with(test.spec))
			s.volumes(test.persistent, test.class)
			if got := volumesOf(t, s.set(t)); got != test.want {
				t.Errorf("expected volumes %q, got %q", test.want, got)
			}
			if test.told == "" {
				test.told = "True AllUpToDate: Every pod runs what the spec says"
			}
			if got := told(s.report().Status.Conditions, "UpToDate"); got != test.told {
				t.Errorf("expected UpToDate to be\n%s, got\n%s", test.told, got)
			}
		})
	}
}

// What is decided follows the volumes that there are: a pod without one is not restarted for nothing.
func TestWhetherDataGoesWithAPodFollowsWhatRunsAndNotWhatIsAskedFor(t *testing.T) {
	without := running(1, with(persistentSpec)).changed(0)
	without.volumes(false, "")
	if got := without.step(); got != "" {
		t.Errorf("expected the only pod to be left alone, as it was made without a volume, got step %q", got)
	}
	having := running(1, with("{}")).changed(0)
	having.volumes(true, "")
	if got := having.step(); got != "restart pod example-0" {
		t.Errorf("expected a pod that was made with a volume to be restarted, got step %q", got)
	}
	asleep := running(3, with("{hibernate: true, persistentSpec: {enabled: true}}"))
	asleep.volumes(false, "")
	if n := *asleep.set(t).Spec.Replicas; n != 3 {
		t.Errorf("expected pods without volumes not to hibernate, got %d of 3", n)
	}
}
