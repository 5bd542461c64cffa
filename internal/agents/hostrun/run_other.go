// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package hostrun

import (
	"context"
	"errors"
)

// Run needs Linux. Orders and results can be handled everywhere.
func Run(context.Context, Options) error {
	return errors.New("commands are run on hosts with Linux only")
}
