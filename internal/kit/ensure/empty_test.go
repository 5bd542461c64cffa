// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAnEmptyDeclarationDemandsNothing(t *testing.T) {
	empty := func(d *appsv1ac.DeploymentApplyConfiguration, c *corev1ac.ContainerApplyConfiguration) {
		d.Spec.WithStrategy(appsv1ac.DeploymentStrategy().WithRollingUpdate(appsv1ac.RollingUpdateDeployment()))
		d.Spec.Template.Spec.WithVolumes(corev1ac.Volume().WithName("config").WithConfigMap(corev1ac.ConfigMapVolumeSource()))
		c.WithSecurityContext(corev1ac.SecurityContext())
	}
	filledIn := func(d *appsv1.Deployment) {
		d.Spec.Strategy.RollingUpdate.MaxSurge = new(intstr.FromString("25%"))
		d.Spec.Template.Spec.Volumes[0].ConfigMap.DefaultMode = new(int32(420))
		main(d).SecurityContext.RunAsNonRoot = new(true)
	}
	if drift := driftOf(t, empty, filledIn); drift != "" {
		t.Errorf("drift at %q, expected none", drift)
	}
	gone := func(d *appsv1.Deployment) { d.Spec.Template.Spec.Volumes[0].ConfigMap = nil }
	if drift := driftOf(t, empty, gone); !strings.Contains(drift, "configMap") {
		t.Errorf("drift at %q, expected it to name the configMap that was taken away", drift)
	}
}

func TestAnEmptyListOrMapIsOursOnlyWhereItIsOneValue(t *testing.T) {
	const declared = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"demo","annotations":{},"finalizers":[]},
		"spec":{"nodeSelector":{},"overhead":{},"tolerations":[],"volumes":[],"containers":[]}}`
	in := mustDeclare(t, shop(), fromJSON(t, declared))
	for name, test := range map[string]struct {
		live func(*corev1.Pod)
		path string
	}{
		"nothing in any of them": {func(*corev1.Pod) {}, ""},
		"an annotation":          {func(p *corev1.Pod) { p.Annotations["a"] = "1" }, ""},
		"an overhead": {func(p *corev1.Pod) {
			p.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("1")}
		}, ""},
		"a finalizer":         {func(p *corev1.Pod) { p.Finalizers = []string{"example.com/hold"} }, ""},
		"a volume":            {func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{{Name: "v"}} }, ""},
		"a container":         {func(p *corev1.Pod) { p.Spec.Containers = []corev1.Container{{Name: "c"}} }, ""},
		"a selector of nodes": {func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"zone": "a"} }, "nodeSelector"},
		"a toleration":        {func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Key: "k"}} }, "tolerations"},
	} {
		t.Run(name, func(t *testing.T) {
			live := asServed(t, in, &corev1.Pod{})
			test.live(live)
			drift, err := newComparer(clientgoscheme.Scheme).drift(in, live)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(drift); (drift == nil) != (test.path == "") || !strings.Contains(got, test.path) {
				t.Errorf("drift at %s, expected it at %q", got, test.path)
			}
		})
	}
}

func fromJSON(t *testing.T, text string) Child {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return Child{Object: client.ApplyConfigurationFromUnstructured(object)}
}

// Custom resources have no schema here, so each list is compared as a single value. Defaults inside a list item must
// still not count as drift.
func TestAChildOfAForeignKindIsComparedByWhatIsDeclared(t *testing.T) {
	const declared = `{"apiVersion":"example.com/v1","kind":"Backup","metadata":{"name":"nightly","namespace":"demo"},
		"spec":{"keep":3,"paths":[{"path":"/data"}]}}`
	in := mustDeclare(t, shop(), fromJSON(t, declared))
	for name, test := range map[string]struct {
		paths []any
		drift bool
	}{
		"a field that is filled in": {[]any{map[string]any{"path": "/data", "recursive": true}}, false},
		"another value":             {[]any{map[string]any{"path": "/etc"}}, true},
		"one more item":             {[]any{map[string]any{"path": "/data"}, map[string]any{"path": "/etc"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			live := in.object.DeepCopy()
			_ = unstructured.SetNestedField(live.Object, int64(3), "spec", "keep")
			_ = unstructured.SetNestedField(live.Object, "daily", "spec", "schedule")
			_ = unstructured.SetNestedSlice(live.Object, test.paths, "spec", "paths")
			drift, err := newComparer(clientgoscheme.Scheme).drift(in, live)
			if err != nil || (drift != nil) != test.drift {
				t.Errorf("drift at %v (%v), expected some: %t", drift, err, test.drift)
			}
		})
	}
}
