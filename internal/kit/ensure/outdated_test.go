// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This test checks made-up errors. The tests in internal/kit/integration check the errors of a real API server.
func TestAFailedTestOfAPatchIsDistinguishedFromAnInvalidValue(t *testing.T) {
	node := schema.GroupKind{Kind: "Node"}
	failed := apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", "testing value /x failed", 0, false)
	invalid := func(value string) error {
		return apierrors.NewInvalid(node, "n1", field.ErrorList{field.Invalid(field.NewPath("metadata", "labels"), value, "is wrong")})
	}
	for name, test := range map[string]struct {
		err    error
		failed bool
	}{
		"a failed test":                         {failed, true},
		"a failed test, wrapped":                {fmt.Errorf("patch n1: %w", failed), true},
		"an invalid value":                      {invalid("a b"), false},
		"an invalid value that speaks of tests": {invalid("testing value"), false},
		"a conflict":                            {apierrors.NewConflict(schema.GroupResource{}, "n1", errors.New("x")), false},
		"a refusal":                             {apierrors.NewForbidden(schema.GroupResource{}, "n1", errors.New("x")), false},
		"an error from elsewhere":               {errors.New("the server rejected our request due to an error in our request"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := testFailed(test.err); got != test.failed {
				t.Errorf("a failed test: %t, expected %t for %q", got, test.failed, test.err)
			}
		})
	}
}
