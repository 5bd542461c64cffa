// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package exit defines errors that carry the exit code of a subcommand. Only main ends the process.
package exit

import "errors"

// Error is an error with an exit code.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Code returns the exit code of the first Error in the chain of err. If there is no Error, it returns the given default
// (otherwise).
func Code(err error, otherwise int) int {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Code
	}
	return otherwise
}
