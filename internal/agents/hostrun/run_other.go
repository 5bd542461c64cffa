// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package hostrun

import (
	"context"
	"errors"
)

// Run returns an error on systems other than Linux.
func Run(context.Context, Options) error {
	return errors.New("commands can only run on Linux hosts")
}
