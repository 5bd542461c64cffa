// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hosttest

import (
	"context"
	gopath "path"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// unitFile returns the path and content of a unit file; empty if there is none.
func (m *Machine) unitFile(unit string) (string, string) {
	for _, dir := range []string{unitDir, "/usr/lib/systemd/system"} {
		if content, _, err := m.FS.ReadFile(gopath.Join(dir, unit), 1<<20); err == nil {
			return gopath.Join(dir, unit), string(content)
		}
		if found, _ := m.FS.Read(gopath.Join(dir, unit)); found.Type == hostfs.Link {
			return found.Target, ""
		}
	}
	return "", ""
}

// wants returns the directories that an [Install] section names.
func wants(content string) (dirs []string) {
	for line := range strings.Lines(units.Install(content)) {
		if targets, is := strings.CutPrefix(strings.TrimSpace(line), "WantedBy="); is {
			for target := range strings.FieldsSeq(targets) {
				dirs = append(dirs, gopath.Join(unitDir, target+".wants"))
			}
		}
	}
	return dirs
}

// Enablement returns the state of a unit file.
func (m *Machine) Enablement(_ context.Context, unit string) (string, error) {
	p, content := m.unitFile(unit)
	switch {
	case p == "":
		return units.NotFound, nil
	case p == hostconfig.MaskTarget:
		return units.Masked, nil
	case len(wants(content)) == 0:
		return "static", nil
	}
	for _, dir := range wants(content) {
		if found, err := m.FS.Read(gopath.Join(dir, unit)); err != nil || found.Type != hostfs.Absent {
			return units.Enabled, err
		}
	}
	return units.Disabled, nil
}

// Enable creates the links that the [Install] section of a unit names.
func (m *Machine) Enable(_ context.Context, unit string) error {
	if err := m.Call("enable " + unit); err != nil {
		return err
	}
	defer m.uncrashed()()
	p, content := m.unitFile(unit)
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

// Disable removes all links to the unit, as systemctl does.
func (m *Machine) Disable(_ context.Context, unit string) error {
	if err := m.Call("disable " + unit); err != nil {
		return err
	}
	defer m.uncrashed()()
	names, err := m.FS.Names(unitDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".wants") {
			continue
		}
		d, err := m.Disk.OpenDir(gopath.Join(unitDir, name))
		if err != nil {
			return err
		}
		defer d.Close()
		if _, err := d.Stat(unit); err != nil {
			continue
		}
		if err := d.Remove(unit, false); err != nil {
			return err
		}
		if left, _ := d.Names(); len(left) == 0 {
			parent, _ := m.Disk.OpenDir(unitDir)
			if err := parent.Remove(name, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// DaemonReload reads the unit files.
func (m *Machine) DaemonReload(context.Context) error {
	if err := m.Call("daemon-reload"); err != nil {
		return err
	}
	m.Loaded = m.UnitFiles()
	return nil
}
