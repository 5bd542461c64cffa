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

// CanLabel reports whether another program may set the label of what is at a path; false if nothing is there. The error
// says why the label must stay: a user could have put the file of another user there.
func (f *FS) CanLabel(p string) (bool, error) {
	err := f.inside(p, func(d Dir, name string) error {
		entry, err := d.Handle(name)
		if err != nil {
			return err
		}
		defer entry.Close()
		return entry.SetLabel("") // which changes nothing
	})
	if isAbsent(err) {
		return false, nil
	}
	return err == nil, err
}
