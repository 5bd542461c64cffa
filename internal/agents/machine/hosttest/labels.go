// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hosttest

import (
	"context"
	"fmt"
	gopath "path"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/agents/machine/selinux"
)

// Restorecon is the path of the simulated program.
const Restorecon = "/usr/sbin/restorecon"

// Label is the label of a path in the simulated policy of SELinux, which has a rule for each path. So the label that a
// new entry inherits from its directory is always a wrong one.
func Label(p string) string { return "label_of:" + p }

// Confine enables the simulated SELinux, and labels the whole disk.
func (m *Machine) Confine(t testing.TB) {
	t.Helper()
	m.Write(t, Restorecon, "", 0o755, 0)
	m.Write(t, selinux.EnforceFile, "1", 0o644, 0)
	tree, err := disktest.Tree(m.FS, "/", "")
	must(t, err)
	must(t, m.setLabel("/"))
	for p := range tree {
		must(t, m.setLabel(p))
	}
}

// SetLabels sets the labels of paths, as restorecon does: it does not sync them. A path that is gone is no error.
func (m *Machine) SetLabels(_ context.Context, program string, paths []string) error {
	if program != Restorecon {
		return fmt.Errorf("the program is %s, but %q was called", Restorecon, program)
	}
	m.Calls = append(m.Calls, "restorecon")
	for _, p := range paths {
		found, err := m.FS.Read(p)
		if err != nil {
			return err
		}
		if found.Type == hostfs.Absent {
			continue
		}
		if err := m.setLabel(p); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) setLabel(p string) error {
	d, err := m.Disk.OpenDir(gopath.Dir(p))
	if err != nil {
		return err
	}
	defer d.Close()
	name := gopath.Base(p)
	if p == "/" {
		name = "."
	}
	entry, err := d.Handle(name)
	if err != nil {
		return err
	}
	defer entry.Close()
	return entry.SetLabel(Label(p))
}
