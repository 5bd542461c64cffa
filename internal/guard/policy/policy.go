// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy finds out whether the API server enforces an admission policy of opcrew. The operator trusts what
// such a policy records, such as the requester of an object, only while the policy is in force.
package policy

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InForce reports whether the API server enforces the policy with a name, whose binding has the same name.
func InForce(ctx context.Context, reader client.Reader, name string) (bool, error) {
	rule, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	for _, object := range []client.Object{rule, binding} {
		if err := reader.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
			return false, client.IgnoreNotFound(err)
		}
	}
	fails := rule.Spec.FailurePolicy == nil || *rule.Spec.FailurePolicy == admissionv1.Fail
	everywhere := binding.Spec.MatchResources == nil && binding.Spec.PolicyName == name
	denies := len(binding.Spec.ValidationActions) > 0 && binding.Spec.ValidationActions[0] == admissionv1.Deny
	return fails && everywhere && denies && rule.DeletionTimestamp == nil && binding.DeletionTimestamp == nil, nil
}
