// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// careless is an object with spec fields that have no effect.
type careless struct {
	conditioned
	fields []string
}

func (c *careless) Ignored() []string { return c.fields }

// The condition must not reuse its previous message, because that message may describe another spec.
func TestTheConditionOfIgnoredFieldsKeepsNothingOfTheLastReport(t *testing.T) {
	const all = "The API server accepted these fields, but they have no effect: spec.a, spec.b"
	for name, test := range map[string]struct {
		message string
		fields  []string
		want    string
	}{
		"nothing is ignored":            {"", nil, ""},
		"fields of the object":          {"", []string{"spec.a", "spec.b"}, "NoEffect: " + all},
		"what the operator overrides":   {"spec.env: A", nil, "Shadowed: spec.env: A"},
		"both":                          {"spec.env: A", []string{"spec.a", "spec.b"}, "Shadowed: spec.env: A; " + all},
		"another field than was before": {"spec.env: A", []string{"spec.c"}, "Shadowed: spec.env: A; The API server accepted these fields, but they have no effect: spec.c"},
	} {
		object := &careless{fields: test.fields}
		object.list = []metav1.Condition{{Type: "FieldsIgnored", Status: "True", Reason: "Shadowed", Message: "spec.env: B; " + all}}
		loop := &Loop[*careless, struct{}, struct{}]{
			Overridden: func(*careless, struct{}) (string, string) { return "Shadowed", test.message },
		}
		for range 2 {
			loop.reportIgnored(object, struct{}{}, time.Now())
		}
		got := ""
		for _, c := range object.list {
			got = c.Reason + ": " + c.Message
		}
		if got != test.want {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}
