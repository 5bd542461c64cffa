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

// unitFile returns the path and content of a unit file; empty if there is none. An instance has the file of its template.
func (m *Machine) unitFile(unit string) (string, string) {
	for _, dir := range []string{unitDir, "/usr/lib/systemd/system"} {
		for _, name := range names(unit) {
			p := gopath.Join(dir, name)
			if content, _, err := m.FS.ReadFile(p, 1<<20); err == nil {
				return p, string(content)
			}
			if found, _ := m.FS.Read(p); found.Type == hostfs.Link {
				return found.Target, ""
			}
		}
	}
	return "", ""
}

func names(unit string) []string {
	if at := strings.IndexByte(unit, '@'); at >= 0 {
		return []string{unit, unit[:at+1] + gopath.Ext(unit)}
	}
	return []string{unit}
}

// settings returns the words of one setting in an [Install] section.
func settings(content, name string) (words []string) {
	for line := range strings.Lines(units.Install(content)) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), name+"="); is {
			words = append(words, strings.Fields(value)...)
		}
	}
	return words
}

// wants returns the directories that an [Install] section names.
func wants(content string) (dirs []string) {
	for _, target := range settings(content, "WantedBy") {
		dirs = append(dirs, gopath.Join(unitDir, target+".wants"))
	}
	for _, target := range settings(content, "RequiredBy") {
		dirs = append(dirs, gopath.Join(unitDir, target+".requires"))
	}
	return dirs
}

// Enablement returns the state of a unit file.
func (m *Machine) Enablement(_ context.Context, unit string) (string, error) {
	p, content := m.unitFile(unit)
	switch {
	case m.Unknown != nil:
		return "", m.Unknown
	case p == "":
		return units.NotFound, nil
	case p == hostconfig.MaskTarget:
		return units.Masked, nil
	case content == "":
		return "alias", nil
	case len(wants(content)) == 0 && len(settings(content, "Also")) > 0:
		return "indirect", nil
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

// DaemonReload reads the unit files.
func (m *Machine) DaemonReload(context.Context) error {
	if err := m.Call("daemon-reload"); err != nil {
		return err
	}
	m.Loaded = m.UnitFiles()
	return nil
}
