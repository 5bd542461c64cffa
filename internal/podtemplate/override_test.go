// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/api/common"
)

// template returns a pod template that sets every field that an override can change.
func template() *corev1ac.PodTemplateSpecApplyConfiguration {
	return corev1ac.PodTemplateSpec().
		WithLabels(map[string]string{"app": "cache"}).
		WithAnnotations(map[string]string{"made-by": "us"}).
		WithSpec(corev1ac.PodSpec().
			WithContainers(corev1ac.Container().WithName("main").WithImage("image:v1")).
			WithTolerations(corev1ac.Toleration().WithKey("ours")).
			WithImagePullSecrets(corev1ac.LocalObjectReference().WithName("ours")).
			WithTopologySpreadConstraints(corev1ac.TopologySpreadConstraint().WithTopologyKey("ours")))
}

// overridden applies an override to the template, and returns the result as decoded JSON.
func overridden(t *testing.T, override *common.PodOverride) map[string]any {
	t.Helper()
	changed := template()
	Override(changed, override)
	raw, err := json.Marshal(changed)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// expected returns the template with some parts of its metadata and spec replaced.
func expected(t *testing.T, parts string) map[string]any {
	t.Helper()
	out := overridden(t, nil)
	var wanted map[string]map[string]any
	if err := yaml.Unmarshal([]byte(parts), &wanted); err != nil {
		t.Fatal(err)
	}
	for part, fields := range wanted {
		maps.Copy(out[part].(map[string]any), fields)
	}
	return out
}

func TestAnOverrideThatIsNilOrEmptyChangesNothing(t *testing.T) {
	raw, err := json.Marshal(template())
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for name, override := range map[string]*common.PodOverride{
		"nil": nil, "empty": {},
		"empty lists": {
			Labels: map[string]string{}, Annotations: map[string]string{}, NodeSelector: map[string]string{},
			Tolerations: []corev1.Toleration{}, TopologySpreadConstraints: []corev1.TopologySpreadConstraint{}, ImagePullSecrets: []corev1.LocalObjectReference{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, overridden(t, override)); diff != "" {
				t.Errorf("the template should be as before (-expected +found):\n%s", diff)
			}
		})
	}
}

func TestAnOverrideAddsWhatTheTemplateLacksAndTakesThePlaceOfItsLists(t *testing.T) {
	for name, test := range map[string]struct {
		override common.PodOverride
		want     string
	}{
		"labels are added, and those of the template win": {
			common.PodOverride{Labels: map[string]string{"team": "shop", "app": "stolen"}},
			"metadata: {labels: {app: cache, team: shop}}",
		},
		"annotations are added, and those of the template win": {
			common.PodOverride{Annotations: map[string]string{"note": "x", "made-by": "them"}},
			"metadata: {annotations: {made-by: us, note: x}}",
		},
		"a node selector": {
			common.PodOverride{NodeSelector: map[string]string{"disk": "ssd"}},
			"spec: {nodeSelector: {disk: ssd}}",
		},
		"names": {
			common.PodOverride{PriorityClassName: "high", RuntimeClassName: "gold", ServiceAccountName: "cache"},
			"spec: {priorityClassName: high, runtimeClassName: gold, serviceAccountName: cache}",
		},
		"one name of three": {
			common.PodOverride{RuntimeClassName: "gold"},
			"spec: {runtimeClassName: gold}",
		},
		"tolerations": {
			common.PodOverride{Tolerations: []corev1.Toleration{{Key: "tier", Operator: corev1.TolerationOpExists}, {Key: "a", Value: "b", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(0))}}},
			"spec: {tolerations: [{key: tier, operator: Exists}, {key: a, value: b, effect: NoExecute, tolerationSeconds: 0}]}",
		},
		"pull secrets": {
			common.PodOverride{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}},
			"spec: {imagePullSecrets: [{name: pull}]}",
		},
		"spread": {
			common.PodOverride{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}}},
			"spec: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
		},
		"affinity": {
			common.PodOverride{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}}}},
			}}}},
			"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(expected(t, test.want), overridden(t, &test.override)); diff != "" {
				t.Errorf("not as expected (-expected +found):\n%s", diff)
			}
		})
	}
}

func TestATemplateWithoutMetadataGetsThatOfTheOverride(t *testing.T) {
	bare := corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec())
	Override(bare, &common.PodOverride{Labels: map[string]string{"a": "1"}, Annotations: map[string]string{"b": "2"}})
	if bare.Labels["a"] != "1" || bare.Annotations["b"] != "2" {
		t.Errorf("expected label a and annotation b, got %+v", bare.ObjectMetaApplyConfiguration)
	}
}

func TestAnOverrideIsNotChangedByWhatItIsAppliedTo(t *testing.T) {
	override := common.PodOverride{Labels: map[string]string{"app": "stolen", "team": "shop"}, NodeSelector: map[string]string{"disk": "ssd"}}
	before := override.DeepCopy()
	first := template()
	Override(first, &override)
	first.WithLabels(map[string]string{"later": "x"})
	first.Spec.WithNodeSelector(map[string]string{"later": "x"})
	if diff := cmp.Diff(before, &override); diff != "" {
		t.Errorf("the user's object in the cache was changed (-before +after):\n%s", diff)
	}
}
