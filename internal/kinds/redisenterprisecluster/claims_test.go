// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// set returns the StatefulSet that the plan declares.
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

// volumesOf returns the volume claim that a StatefulSet declares for each pod, as "class size", or "none".
func volumesOf(t *testing.T, set *appsv1ac.StatefulSetApplyConfiguration) string {
	t.Helper()
	var out []string
	for _, volume := range set.Spec.Template.Spec.Volumes {
		if *volume.Name == desired.DataVolume {
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
	const remedy = "; a cluster keeps the volumes that it was created with: create another cluster and move the data, or restore the previous persistentSpec"
	for name, test := range map[string]struct {
		spec           string
		persistent     bool
		class          string
		want, reported string
	}{
		"as they were asked for": {spec: "persistentSpec: {storageClassName: fast, volumeSize: 5Gi}", persistent: true, class: "fast", want: "fast 5Gi"},
		"none":                   {spec: "{}", want: "none"},
		"larger ones for pods that come": {
			spec: "persistentSpec: {storageClassName: fast, volumeSize: 9Gi}", persistent: true, class: "fast", want: "fast 9Gi",
		},
		"volumes are asked for later": {
			spec: persistentSpec, want: "none", reported: "False VolumesFixed: persistentSpec requests volumes, but the pods were created without volumes" + remedy,
		},
		"they are turned off": {
			spec: `persistentSpec: {enabled: false}`, persistent: true, class: "fast", want: "fast 5Gi",
			reported: "False VolumesFixed: The spec requests no volumes, but the pods were created with volumes" + remedy,
		},
		"another class": {
			spec: `persistentSpec: {storageClassName: slow, volumeSize: 9Gi}`, persistent: true, class: "fast", want: "fast 5Gi",
			reported: "False VolumesFixed: persistentSpec requests volumes of slow, but the pods have volumes of fast" + remedy,
		},
		"the class is taken away": {
			spec: persistentSpec, persistent: true, class: "fast", want: "fast 5Gi",
			reported: "False VolumesFixed: persistentSpec requests volumes of the default storage class, but the pods have volumes of fast" + remedy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(3, clustertest.With(test.spec))
			s.volumes(test.persistent, test.class)
			if got := volumesOf(t, s.set(t)); got != test.want {
				t.Errorf("expected volumes %q, got %q", test.want, got)
			}
			if test.reported == "" {
				test.reported = "True AllUpToDate: Every pod matches the spec"
			}
			if got := conditionText(s.report().Status.Conditions, "UpToDate"); got != test.reported {
				t.Errorf("expected UpToDate to be\n%s, got\n%s", test.reported, got)
			}
		})
	}
}

// What opcrew may do depends on the volumes that the pods have, not on those in the spec. A pod that runs without a
// volume is not restarted if its data would be lost, even if the spec now requests volumes.
func TestWhetherDataGoesWithAPodFollowsWhatRunsAndNotWhatIsAskedFor(t *testing.T) {
	without := running(1, clustertest.With(persistentSpec)).changed(0)
	without.volumes(false, "")
	if got := without.step(); got != "" {
		t.Errorf("expected the only pod to be left alone, as it was made without a volume, got step %q", got)
	}
	having := running(1, clustertest.With("{}")).changed(0)
	having.volumes(true, "")
	if got := having.step(); got != "restart pod example-0" {
		t.Errorf("expected a pod that was made with a volume to be restarted, got step %q", got)
	}
	asleep := running(3, clustertest.With("{hibernate: true, persistentSpec: {enabled: true}}"))
	asleep.volumes(false, "")
	if n := *asleep.set(t).Spec.Replicas; n != 3 {
		t.Errorf("expected pods without volumes not to hibernate, got %d of 3", n)
	}
}

func TestAClusterThatIsMadeAgainWithFewerNodesHasAllPodsBackFirst(t *testing.T) {
	again := func(do func(*scene)) *scene {
		s := running(4, clustertest.With(persistentSpec))
		wants(3)(s.Cluster)
		s.storage.Inherited, s.Status.Conditions = 4, nil
		do(s)
		return s
	}
	fresh := func(s *scene, id string) {
		*s.procs[id] = redis.NodeStatus{ID: id, RunID: "run-" + id, Role: redis.Primary, ClusterOK: true}
	}
	for name, test := range map[string]struct {
		scene *scene
		want  int32
	}{
		"before there are any": {again(func(s *scene) {
			s.Set, s.Pods, s.Status.Nodes, s.seen = nil, map[string]*corev1.Pod{}, 0, false
		}), 4},
		"while they start":             {again(func(s *scene) { s.silence(0, 1, 2, 3) }), 4},
		"while the last one has slots": {again(func(*scene) {}), 4},
		"until it has nothing": {again(func(s *scene) {
			for i := range 3 {
				s.form(i, 3)
			}
			s.apart = map[string]bool{"h3": true, "g3": true}
			fresh(s, "h3")
			fresh(s, "g3")
		}), 3},
		"nor longer where all volumes are empty": {again(func(s *scene) {
			s.apart = map[string]bool{}
			for id := range s.procs {
				s.apart[id] = true
				fresh(s, id)
			}
		}), 3},
		"and not again": {again(func(s *scene) {
			*s.Set.Spec.Replicas = 3
			s.silence(0, 1, 2)
			delete(s.Pods, "example-3")
		}), 3},
		"more are wanted than there were": {again(wantsAll(5)), 5},
	} {
		t.Run(name, func(t *testing.T) {
			if got := replicas(t, test.scene); got != test.want {
				t.Errorf("expected %d pods, got %d", test.want, got)
			}
		})
	}
}

func wantsAll(n int32) func(*scene) { return func(s *scene) { wants(n)(s.Cluster) } }
