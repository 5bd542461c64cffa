// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostrun

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

func notStarted(reason, format string, args ...any) *hostjob.Result {
	return &hostjob.Result{State: hostjob.NotStarted, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func invalid(err error) *hostjob.Result {
	return &hostjob.Result{State: hostjob.Invalid, Reason: hostjob.ReasonBadOrder, Message: err.Error()}
}

func unknown(reason, format string, args ...any) *hostjob.Result {
	return &hostjob.Result{State: hostjob.Unknown, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
