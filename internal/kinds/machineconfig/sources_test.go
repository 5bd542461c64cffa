// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

func TestOnlyWhatAPoolControlsIsNoSource(t *testing.T) {
	yes := true
	owner := func(version, kind string, controller *bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "gold", UID: "1", Controller: controller}}
	}
	pool := newPool()
	pool.Spec.MachineConfigSelector = &metav1.LabelSelector{MatchLabels: map[string]string{mcfgv1.RoleLabel: "gold"}}
	for what, c := range map[string]struct {
		owners []metav1.OwnerReference
		source bool
	}{
		"copied from OpenShift, like 00-worker": {nil, true},
		"rendered for a pool":                   {owner("machineconfiguration.openshift.io/v1", "MachineConfigPool", &yes), false},
		"rendered by a later version":           {owner("machineconfiguration.openshift.io/v2", "MachineConfigPool", &yes), false},
		"of an object of another kind":          {owner("machineconfiguration.openshift.io/v1", "KubeletConfig", &yes), true},
		"of an object of another API":           {owner("example.com/v1", "MachineConfigPool", &yes), true},
		"owned, and not controlled, by a pool":  {owner("machineconfiguration.openshift.io/v1", "MachineConfigPool", nil), true},
	} {
		mc := newConfig()
		mc.Labels = map[string]string{mcfgv1.RoleLabel: "gold"}
		mc.Annotations = map[string]string{mcfgv1.GeneratedByAnnotation: "4.20"}
		mc.OwnerReferences = c.owners
		if got := len(sources(pool, []*mcfgv1.MachineConfig{mc})) == 1; got != c.source {
			t.Errorf("a MachineConfig %s: expected source %t, got %t", what, c.source, got)
		}
	}
}
