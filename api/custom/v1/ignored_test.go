// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"slices"
	"testing"
)

func TestFieldsThatCountOnlyWithOthersAreNamedWithoutThem(t *testing.T) {
	n := int32(3)
	m := &MicroServiceDeploy{Spec: MicroServiceDeploySpec{
		Auth: &Auth{}, ConfigAs: ConfigAsSecret, CreationTimestamp: "2024", MaxReplicas: &n, Metrics: []Metric{{}},
	}}
	want := []string{
		"auth (has an effect only with needAuth)", "configAs (has an effect only with config)", "creationTimestamp", "maxReplicas (has an effect only with autoscaling)", "metrics (have an effect only with autoscaling)",
	}
	if got := m.Ignored(); !slices.Equal(got, want) {
		t.Errorf("expected the ignored fields %q, got %q", want, got)
	}
	m.Spec.NeedAuth, m.Spec.Config, m.Spec.Autoscaling = true, "A=b", true
	if got := m.Ignored(); !slices.Equal(got, []string{"creationTimestamp"}) {
		t.Errorf("expected only the timestamp to have no effect, got %q", got)
	}
}
