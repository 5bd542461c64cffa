// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestAPolicyIsInForceOnlyIfItRefusesEverywhere(t *testing.T) {
	ignore := admissionv1.Ignore
	type rule = admissionv1.ValidatingAdmissionPolicy
	type binding = admissionv1.ValidatingAdmissionPolicyBinding
	for name, test := range map[string]struct {
		change func(*rule, *binding)
		only   string // the only object that exists; empty for both
		want   bool
	}{
		"as it is installed":   {want: true},
		"without its binding":  {only: "rule"},
		"without the policy":   {only: "binding"},
		"it ignores failures":  {change: func(r *rule, _ *binding) { r.Spec.FailurePolicy = &ignore }},
		"it only warns":        {change: func(_ *rule, b *binding) { b.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Warn} }},
		"it is in some places": {change: func(_ *rule, b *binding) { b.Spec.MatchResources = &admissionv1.MatchResources{} }},
		"another one is bound": {change: func(_ *rule, b *binding) { b.Spec.PolicyName = "other" }},
	} {
		r, b := &rule{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, &binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		b.Spec.PolicyName, b.Spec.ValidationActions = "p", []admissionv1.ValidationAction{admissionv1.Deny}
		if test.change != nil {
			test.change(r, b)
		}
		objects := map[string][]client.Object{"": {r, b}, "rule": {r}, "binding": {b}}[test.only]
		got, err := InForce(t.Context(), fake.NewClientBuilder().WithObjects(objects...).Build(), "p")
		if err != nil || got != test.want {
			t.Errorf("%s: expected %t, got %t (%v)", name, test.want, got, err)
		}
	}
}
