// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// FS reads and changes entries of a Disk by absolute, clean paths.
type FS struct{ disk Disk }

// New returns an FS that uses a Disk.
func New(disk Disk) *FS { return &FS{disk} }

// Read returns the entry at a path. If the path does not exist, the entry's type is Absent.
func (f *FS) Read(p string) (Entry, error) {
	found := Entry{Type: Absent}
	err := f.inside(p, func(d Dir, name string) error {
		info, err := d.Stat(name)
		if err != nil {
			return err
		}
		if found = info.Entry; info.Type != File {
			return nil
		}
		found, err = hashed(d, name)
		return err
	})
	if isAbsent(err) {
		return Entry{Type: Absent}, nil
	}
	return found, err
}

// isAbsent reports whether an error means that nothing can be at a path, because it or a directory on the way is
// missing.
func isAbsent(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) }

// ReadFile returns the content of a file and its entry, and an error if it is larger than a limit.
func (f *FS) ReadFile(p string, limit int64) (content []byte, found Entry, err error) {
	err = f.inside(p, func(d Dir, name string) error {
		file, info, err := d.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		if info.Size <= limit {
			content, err = io.ReadAll(io.LimitReader(file, limit+1))
		}
		if err == nil && max(info.Size, int64(len(content))) > limit {
			return fmt.Errorf("%s is larger than %d bytes, the most that opcrew copies", p, limit)
		}
		found, found.Hash = info.Entry, Hash(content)
		return err
	})
	return content, found, err
}

// Names returns the sorted names in a directory; none if it does not exist.
func (f *FS) Names(p string) ([]string, error) {
	d, err := f.disk.OpenDir(p)
	if isAbsent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, f.explain(p, err)
	}
	defer d.Close()
	names, err := d.Names()
	slices.Sort(names)
	return names, err
}

// SameFile reports whether two paths are names of the same file.
func (f *FS) SameFile(a, b string) bool {
	one, errOne := f.stat(a)
	two, errTwo := f.stat(b)
	return errOne == nil && errTwo == nil && one.Type == File && one.ID == two.ID
}

func (f *FS) stat(p string) (info Info, err error) {
	err = f.inside(p, func(d Dir, name string) error {
		info, err = d.Stat(name)
		return err
	})
	return info, err
}

// inside calls do with the directory of a path and the last name in it.
func (f *FS) inside(p string, do func(d Dir, name string) error) error {
	d, err := f.disk.OpenDir(path.Dir(p))
	if err != nil {
		return f.explain(p, err)
	}
	defer d.Close()
	name := path.Base(p)
	if p == "/" {
		name = "." // to the kernel, "/" would be the root of the machine
	}
	return do(d, name)
}

// explain names the link that the kernel refused to follow, and what to declare instead.
func (f *FS) explain(p string, err error) error {
	for above := path.Dir(p); above != "/" && (errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)); above = path.Dir(above) {
		info, found := f.stat(above)
		if found != nil || info.Type != Link {
			continue
		}
		target := info.Target
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(above), target)
		}
		text := fmt.Sprintf("%s is a link to %s, and opcrew follows no links: declare %s instead", above, info.Target, path.Join(target, p[len(above):]))
		return linkError(text)
	}
	return err
}

// linkError names a link that was not followed. The kernel's error may be another one, which would mean absence.
type linkError string

func (e linkError) Error() string { return string(e) }

func (e linkError) Unwrap() error { return unix.ELOOP }

// IsBehindLink reports whether a path could not be resolved because of a link.
func IsBehindLink(err error) bool { return errors.Is(err, unix.ELOOP) }
