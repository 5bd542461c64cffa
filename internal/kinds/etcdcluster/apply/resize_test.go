// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestOnlyAPodThatKubernetesCannotResizeIsRecreated(t *testing.T) {
	pods, kind := schema.GroupResource{Resource: "pods"}, schema.GroupKind{Kind: "Pod"}
	rules := field.ErrorList{field.Forbidden(field.NewPath("spec", "containers").Index(0).Child("resources", "limits"), "resource limits cannot be removed")}
	policy := apierrors.NewInvalid(kind, "a", nil)
	policy.ErrStatus.Message = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too much"
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"it does not know how":        {apierrors.NewMethodNotSupported(pods, "patch"), true},
		"it has no such subresource":  {apierrors.NewGenericServerResponse(404, "patch", pods, "a", "", 0, true), true},
		"its rules forbid it":         {apierrors.NewInvalid(kind, "a", rules), true},
		"a quota forbids it":          {apierrors.NewForbidden(pods, "a", errors.New("exceeded quota: small")), false},
		"a quota was not counted yet": {apierrors.NewForbidden(pods, "a", errors.New("status unknown for quota: small")), false},
		"a LimitRange forbids it":     {apierrors.NewForbidden(pods, "a", errors.New("maximum memory usage per Container is 1Gi")), false},
		"a policy forbids it":         {policy, false},
		"a webhook fails":             {apierrors.NewInternalError(errors.New("failed calling webhook")), false},
		"no answer":                   {context.DeadlineExceeded, false},
		"it is done":                  {nil, false},
	} {
		if got := cannotResize(test.err); got != test.want {
			t.Errorf("%s: expected %v, got %v", name, test.want, got)
		}
	}
}
