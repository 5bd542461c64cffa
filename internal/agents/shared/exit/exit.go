// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package exit has errors that tell which exit code a subcommand ends with.
package exit

import "errors"

// Error ends the process with a code of its own.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Code is that of the first Error in err, or is otherwise.
func Code(err error, otherwise int) int {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Code
	}
	return otherwise
}
