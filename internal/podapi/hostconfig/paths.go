// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

import (
	"errors"
	"fmt"
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
