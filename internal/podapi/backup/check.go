// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxKey is the maximum length of an object key in bytes. All stores accept 1024 bytes; the difference leaves room for
// suffixes.
const maxKey = 900

// Check returns an error if the order (a task for the backup program) is invalid.
func (o Order) Check() error {
	if o.ID == "" {
		return errors.New("the order has no id")
	}
	if o.TimeoutSeconds < 0 {
		return errors.New("the timeout is negative")
	}
	if o.Restore != nil && o.Restore.From != nil {
		return o.Restore.checkFrom(o)
	}
	if err := o.Target.check(o.Save != nil && o.Save.Time.IsZero()); err != nil {
		return err
	}
	switch o.Subcommand() {
	case "save":
		return o.Save.check()
	case "prune":
		return o.Prune.check()
	case "verify":
		return errors.Join(checkObject(o.Target.Path, o.Verify.Object), absolute("the scratch directory", o.Verify.ScratchDir))
	case "restore":
		return errors.Join(checkObject(o.Target.Path, o.Restore.Object), o.Restore.check())
	}
	return errors.New("the order must have exactly one of save, prune, verify and restore")
}

func (t Target) check(oneShot bool) error {
	switch {
	case !slices.Contains([]Type{S3, ABS, GCS, OSS, Folder}, t.Type):
		return fmt.Errorf("%q is not a storage type; use S3, ABS, GCS, OSS or Folder", t.Type)
	case t.Type == Folder:
		if err := absolute("the folder", t.Dir); err != nil {
			return err
		}
	case !strings.Contains(strings.TrimSuffix(t.Path, "/"), "/"):
		return fmt.Errorf("the path %q is not bucket/key", t.Path)
	}
	if oneShot && strings.HasSuffix(t.Path, "/") {
		return fmt.Errorf("the path %q names no object", t.Path)
	}
	return checkPath(t.Path)
}

// checkPath refuses paths that object stores and file systems could interpret differently.
func checkPath(path string) error {
	switch {
	case len(path) > maxKey:
		return fmt.Errorf("the path has %d bytes, but at most %d are allowed", len(path), maxKey)
	case !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl):
		return fmt.Errorf("the path %q is not plain text", path)
	case strings.HasSuffix(path, metaSuffix):
		return fmt.Errorf("the path %q ends with the suffix of backup records", path)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("the path %q has a part that is empty, \".\" or \"..\"", path)
		}
	}
	return nil
}

// checkObject only accepts objects that belong to the path. The Secret may grant access to other objects too, which an
// order must not reach.
func checkObject(path, object string) error {
	if object == "" || object == path {
		return nil
	}
	if _, ok := ParseName(path, object); !ok {
		return fmt.Errorf("%q is not a backup of the path %q", object, path)
	}
	return nil
}

func (s Save) check() error {
	switch {
	case len(s.Endpoints) == 0:
		return errors.New("the order names no etcd endpoint")
	case s.Keep < 0:
		return errors.New("the number of backups to keep is negative")
	case s.Time.Year() > 9999:
		return errors.New("the time of the backup is not valid")
	}
	return nil
}

func (p Prune) check() error {
	if p.Keep < 1 {
		return errors.New("at least one backup must be kept")
	}
	return nil
}

func (r Restore) check() error {
	switch {
	case r.Name == "" || r.InitialCluster == "" || r.Token == "" || len(r.PeerURLs) == 0:
		return errors.New("the order lacks a name, initial cluster, token or peer URL of the member")
	case r.Bump() < 0 || r.Bump() > 1<<62:
		return fmt.Errorf("the revision cannot be raised by %d", r.Bump())
	case filepath.Dir(r.DataDir) == r.DataDir:
		return fmt.Errorf("%q cannot be a data directory", r.DataDir)
	}
	return absolute("the data directory", r.DataDir)
}

func (r Restore) checkFrom(o Order) error {
	switch {
	case o.Subcommand() == "" || o.Target != Target{} || r.Object != "":
		return errors.New("the order restores from a member, but also names a backup or another task")
	case r.From.Endpoint == "" || r.From.ClusterID == "":
		return errors.New("the order does not name the member to copy from and its cluster")
	}
	return r.check()
}

func absolute(what, path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%s is %q, which is not an absolute path", what, path)
	}
	return nil
}
