// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package condition

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReadyNamesTheFirstBlocker(t *testing.T) {
	blockers := []Blocker{Unless("Stored"), WhenTrue("Conflict"), WhenFalse("Handler"), Unless("Served"), WhenFalse("Repair").But("Repair-False"), WhenFalse("Other").But("Repair-False")}
	healthy := map[string]metav1.ConditionStatus{"Stored": "True", "Conflict": "False", "Handler": "True", "Served": "True", "Repair": "True", "Other": "True"}
	for name, test := range map[string]struct {
		but    map[string]metav1.ConditionStatus
		status metav1.ConditionStatus
		reason string
	}{
		"nothing does":                            {nil, "True", "AsWanted"},
		"one that must be true is false":          {map[string]metav1.ConditionStatus{"Served": "False"}, "False", "Served-False"},
		"one that must be true is unknown":        {map[string]metav1.ConditionStatus{"Served": "Unknown"}, "Unknown", "Served-Unknown"},
		"one that is bad when true is true":       {map[string]metav1.ConditionStatus{"Conflict": "True"}, "False", "Conflict-True"},
		"one that is bad when true is unknown":    {map[string]metav1.ConditionStatus{"Conflict": "Unknown"}, "True", "AsWanted"},
		"one that must not be false is unknown":   {map[string]metav1.ConditionStatus{"Handler": "Unknown"}, "True", "AsWanted"},
		"one that must not be false is false":     {map[string]metav1.ConditionStatus{"Handler": "False"}, "False", "Handler-False"},
		"the first of two, not the worst of them": {map[string]metav1.ConditionStatus{"Stored": "Unknown", "Served": "False"}, "Unknown", "Stored-Unknown"},
		"one with a reason that only warns":       {map[string]metav1.ConditionStatus{"Repair": "False"}, "True", "AsWanted"},
		"one with another reason than a warning":  {map[string]metav1.ConditionStatus{"Other": "False"}, "False", "Other-False"},
		"one that the object does not have":       {map[string]metav1.ConditionStatus{"Served": ""}, "True", "AsWanted"},
	} {
		t.Run(name, func(t *testing.T) {
			var list []metav1.Condition
			s := set(4, noon, &list)
			for kind, status := range healthy {
				if changed, ok := test.but[kind]; ok {
					status = changed
				}
				if status != "" {
					s.set(kind, status, kind+"-"+string(status), "message of "+kind)
				}
			}
			s.SumUp(blockers, "AsWanted", "All is as wanted")
			ready := list[len(list)-1]
			if ready.Type != "Ready" || ready.Status != test.status || ready.Reason != test.reason || ready.ObservedGeneration != 4 {
				t.Errorf("Ready is %s with reason %s at generation %d, expected %s with reason %s at 4",
					ready.Status, ready.Reason, ready.ObservedGeneration, test.status, test.reason)
			}
			if want := "message of "; test.status != "True" && ready.Message[:len(want)] != want {
				t.Errorf("message %q, expected that of what stands in the way", ready.Message)
			}
		})
	}
}
