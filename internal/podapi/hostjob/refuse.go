// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import "fmt"

// Refuse returns the result of a run that was not started, with the reason.
func Refuse(reason, format string, args ...any) *Result {
	return &Result{State: NotStarted, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// RefuseOrder returns the result of an invalid order.
func RefuseOrder(err error) *Result {
	return &Result{State: Invalid, Reason: ReasonBadOrder, Message: err.Error()}
}

// Doubt returns the result of a run that may have been carried out, completely or in part.
func Doubt(reason, format string, args ...any) *Result {
	return &Result{State: Unknown, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
