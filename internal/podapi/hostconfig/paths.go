// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
)

// MaskTarget is the target of the link that masks a unit.
const MaskTarget = "/dev/null"

// Path returns the path of the unit file that a configuration declares for the unit.
func (u *Unit) Path() string { return path.Join(UnitDirectory, u.Name) }

// DropInPath returns the path of a drop-in of the unit.
func (u *Unit) DropInPath(name string) string { return path.Join(UnitDirectory, u.Name+".d", name) }

// holders returns every path of the configuration, with what the configuration declares there.
func (c *Config) holders() (map[string]string, error) {
	out, err := map[string]string{}, error(nil)
	add := func(p, what string) {
		if earlier, taken := out[p]; taken {
			err = errors.Join(err, fmt.Errorf("path %s is declared twice, as %s and as %s: keep one of them", p, earlier, what))
		}
		out[p] = what
		err = errors.Join(err, checkPath(p))
	}
	for _, d := range c.Directories {
		add(d.Path, directory)
	}
	for _, f := range c.Files {
		add(f.Path, "a file")
	}
	for _, l := range c.Links {
		add(l.Path, "a link")
	}
	for _, u := range c.Units {
		u.addPaths(add)
	}
	return out, err
}

const directory = "a directory"

func (u *Unit) addPaths(add func(p, what string)) {
	if u.Contents != nil || u.Mask != nil {
		add(u.Path(), "a unit")
	}
	for _, d := range u.DropIns {
		add(u.DropInPath(d.Name), "a drop-in")
	}
}

// checkPaths checks that each path occurs once, and that only directories have entries below them.
func (c *Config) checkPaths() error {
	all, err := c.holders()
	if len(all) > maxEntries {
		return fmt.Errorf("the configuration has %d paths, but at most %d are supported", len(all), maxEntries)
	}
	for p := range all {
		for above := path.Dir(p); above != "/" && strings.HasPrefix(above, "/"); above = path.Dir(above) {
			if what, declared := all[above]; declared && what != directory {
				err = errors.Join(err, fmt.Errorf("path %s is below %s, which is declared as %s", p, above, what))
			}
		}
	}
	return err
}

func (c *Config) checkDirectories() (err error) {
	for _, d := range c.Directories {
		err = errors.Join(err, d.check(), checkMode(d.Path, d.Mode))
	}
	return err
}

func (c *Config) checkFiles() (err error) {
	for _, f := range c.Files {
		err = errors.Join(err, f.check(), checkMode(f.Path, f.Mode))
	}
	return err
}

func (c *Config) checkLinks() (err error) {
	for _, l := range c.Links {
		err = errors.Join(err, l.check(), l.checkTarget())
	}
	return err
}

func (l *Link) checkTarget() error {
	switch {
	case l.Target == "" || !isText(l.Target) || len(l.Target) > maxPath:
		return fmt.Errorf("%s: the target of a link must be a path of at most %d bytes", l.Path, maxPath)
	case l.Hard && l.Target == l.Path:
		return fmt.Errorf("%s: a hard link cannot have itself as target", l.Path)
	case l.Hard:
		return checkPath(l.Target)
	}
	return nil
}

// checkPath checks a path by itself.
func checkPath(p string) error {
	switch {
	case !strings.HasPrefix(p, "/") || path.Clean(p) != p || p == "/":
		return fmt.Errorf("path %q must be absolute, without a slash at the end, without . and .., and not the root", p)
	case !isText(p) || strings.ContainsAny(p, "\n") || len(p) > maxPath || longestPart(p) > maxName:
		return fmt.Errorf("path %q is not valid UTF-8, contains a line break or NUL, or is too long", p)
	}
	for _, reserved := range []string{"/proc", "/sys", "/dev", StateDirectory} {
		if p == reserved || strings.HasPrefix(p, reserved+"/") {
			return fmt.Errorf("path %s is below %s, which no configuration can change", p, reserved)
		}
	}
	return nil
}

func longestPart(p string) int {
	longest := 0
	for part := range strings.SplitSeq(p, "/") {
		longest = max(longest, len(part))
	}
	return longest
}

func (e *Entry) check() error {
	return errors.Join(e.User.check(e.Path, "user"), e.Group.check(e.Path, "group"))
}

func (p Principal) check(at, field string) error {
	switch {
	case p.ID != nil && p.Name != "":
		return fmt.Errorf("%s: %s must have an id or a name, not both", at, field)
	case p.ID != nil && (*p.ID < 0 || *p.ID >= math.MaxUint32):
		return fmt.Errorf("%s: the id of %s must be from 0 to %d", at, field, math.MaxUint32-1)
	case p.Name != "" && !isAccount(p.Name):
		return fmt.Errorf("%s: %q is not the name of a %s", at, p.Name, field)
	}
	return nil
}

func checkMode(at string, mode *uint32) error {
	return demand(mode == nil || *mode <= maxMode, "%s: mode must be at most 07777 (octal)", at)
}
