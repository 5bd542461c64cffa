// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"fmt"
	"path"
)

// Changeable returns an error if the entry at a path could not be replaced. It changes nothing. If directories on the
// way are missing, it checks the closest one that exists.
func (f *FS) Changeable(p string) error {
	err := f.inside(p, func(d Dir, name string) error { return d.Writable(name) })
	switch {
	case isAbsent(err) && path.Dir(p) != "/":
		return f.Changeable(path.Dir(p))
	case err != nil:
		return fmt.Errorf("%s cannot be changed: %w", p, err)
	}
	return nil
}
