// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Outdated reports whether a write failed because the object has changed, or is gone, since opcrew decided to write it.
// A failed test operation of a JSON patch also means that. The next reconcile decides again.
func Outdated(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || testFailed(err)
}

// testFailed reports whether a test operation of a JSON patch failed. The API server returns status 422 for this,
// although 409 (conflict) would be correct.
func testFailed(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "the server rejected our request due to an error in our request")
}

// Refused reports whether the API server refused a request because of a quota, an admission rule, a missing right or an
// invalid value. Conflicts and server problems are not refusals, because a later try with the same request can succeed.
func Refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsMethodNotSupported(err)
}
