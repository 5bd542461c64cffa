// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hosttest

import (
	"context"
	"errors"
	"fmt"
	gopath "path"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Enable creates the links that the [Install] section of a unit names. It fails for a masked or missing unit.
func (m *Machine) Enable(_ context.Context, unit string) error {
	switch p, content := m.unitFile(unit); {
	case p == "":
		return fmt.Errorf("unit %s does not exist", unit)
	case p == hostconfig.MaskTarget:
		return fmt.Errorf("unit %s is masked", unit)
	case strings.Contains(unit, "@.") && len(wants(content)) > 0:
		return fmt.Errorf("failed to enable %s, destination unit is a non-template unit", unit)
	}
	if err := m.Call("enable " + unit); err != nil {
		return err
	}
	defer m.uncrashed()()
	return m.link(unit)
}

func (m *Machine) link(unit string) error {
	p, content := m.unitFile(unit)
	if content == "" { // an alias
		return m.link(gopath.Base(p))
	}
	for _, also := range settings(content, "Also") {
		if err := m.link(also); err != nil {
			return err
		}
	}
	for _, dir := range wants(content) {
		d, err := m.Disk.OpenDir(dir)
		if err != nil {
			parent, _ := m.Disk.OpenDir(unitDir)
			if err := parent.Mkdir(gopath.Base(dir)); err != nil {
				return err
			}
			if d, err = m.Disk.OpenDir(dir); err != nil {
				return err
			}
		}
		defer d.Close()
		if err := makePublic(d); err != nil {
			return err
		}
		if _, err := d.Stat(unit); err == nil {
			continue
		}
		if err := d.Symlink(p, unit); err != nil {
			return err
		}
	}
	return nil
}

func makePublic(d hostfs.Dir) error {
	if info, err := d.Stat("."); err != nil || info.Mode == 0o755 {
		return err
	}
	self, err := d.Handle(".")
	if err != nil {
		return err
	}
	defer self.Close()
	return self.Chmod(0o755)
}

// Disable removes all links to the unit, as systemctl does. It ignores a masked unit.
func (m *Machine) Disable(_ context.Context, unit string) error {
	if err := m.Call("disable " + unit); err != nil {
		return err
	}
	defer m.uncrashed()()
	return m.unlink(unit)
}

func (m *Machine) unlink(unit string) error {
	p, content := m.unitFile(unit)
	if p == hostconfig.MaskTarget {
		return nil
	}
	if p != "" && content == "" { // an alias
		return m.unlink(gopath.Base(p))
	}
	for _, also := range settings(content, "Also") {
		if err := m.unlink(also); err != nil {
			return err
		}
	}
	names, err := m.FS.Names(unitDir)
	for _, name := range names {
		if strings.HasSuffix(name, ".wants") || strings.HasSuffix(name, ".requires") {
			err = errors.Join(err, m.unlinkIn(name, unit))
		}
	}
	return err
}

// unlinkIn removes the link in a directory, and the directory if it is empty then.
func (m *Machine) unlinkIn(dir, unit string) error {
	d, err := m.Disk.OpenDir(gopath.Join(unitDir, dir))
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := d.Stat(unit); err != nil {
		return nil // there is no link
	}
	if err := d.Remove(unit, false); err != nil {
		return err
	}
	if left, _ := d.Names(); len(left) > 0 {
		return nil
	}
	parent, err := m.Disk.OpenDir(unitDir)
	if err != nil {
		return err
	}
	defer parent.Close()
	return parent.Remove(dir, true)
}
