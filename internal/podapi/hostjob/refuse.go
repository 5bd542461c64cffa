// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import "fmt"

// Refuse returns the result of a run that was not started, with a reason and a message.
func Refuse(reason, format string, args ...any) *Result {
	return &Result{State: NotStarted, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// RefuseOrder returns the result of an order that is invalid.
func RefuseOrder(err error) *Result {
	return &Result{State: Invalid, Reason: ReasonBadOrder, Message: err.Error()}
}

// Doubt returns the result of a run that may have been carried out completely, partly or not at all.
func Doubt(reason, format string, args ...any) *Result {
	return &Result{State: Unknown, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
