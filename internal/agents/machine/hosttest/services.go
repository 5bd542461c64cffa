// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hosttest

import (
	"context"
	"fmt"
	gopath "path"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// startAll starts the units that have a link in a directory of wanted units, as a boot does.
func (m *Machine) startAll() {
	m.Active = map[string]bool{}
	names, _ := m.FS.Names(unitDir)
	for _, dir := range names {
		if !strings.HasSuffix(dir, ".wants") {
			continue
		}
		wanted, _ := m.FS.Names(gopath.Join(unitDir, dir))
		for _, unit := range wanted {
			m.Active[unit] = m.canStart(unit) == nil
		}
	}
}

// canStart returns the error of systemd for a unit that it cannot start.
func (m *Machine) canStart(unit string) error {
	switch p, _ := m.unitFile(unit); {
	case p == "":
		return fmt.Errorf("unit %s not found", unit)
	case p == hostconfig.MaskTarget:
		return fmt.Errorf("unit %s is masked", unit)
	case m.Broken[unit]:
		return fmt.Errorf("%s failed", unit)
	}
	return nil
}

// Service returns the state of a unit.
func (m *Machine) Service(_ context.Context, unit string) (units.Service, error) {
	out := units.Service{Load: "loaded", Active: "inactive"}
	switch p, _ := m.unitFile(unit); p {
	case "":
		out.Load = units.NotFound
	case hostconfig.MaskTarget:
		out.Load = units.Masked
	}
	switch {
	case m.Active[unit]:
		out.Active = "active"
	case m.Broken[unit]:
		out.Active = "failed"
	}
	return out, nil
}

// Reload records the call. It fails for a unit that does not run.
func (m *Machine) Reload(_ context.Context, unit string) error {
	if err := m.canStart(unit); err != nil {
		return err
	}
	if !m.Active[unit] {
		return fmt.Errorf("%s is not active, cannot reload", unit)
	}
	return m.Call("reload " + unit)
}

// Restart starts a unit, and records the call.
func (m *Machine) Restart(_ context.Context, unit string) error {
	if err := m.canStart(unit); err != nil {
		m.Active[unit] = m.Active[unit] && !m.Broken[unit]
		return err
	}
	if err := m.Call("restart " + unit); err != nil {
		return err
	}
	if m.Starts != nil {
		m.Starts(unit)
	}
	m.Active[unit] = true
	return nil
}

// ResetFailed records the call.
func (m *Machine) ResetFailed(_ context.Context, unit string) error {
	return m.Call("reset-failed " + unit)
}

// Stop stops a unit, and records the call.
func (m *Machine) Stop(_ context.Context, unit string) error {
	if err := m.Call("stop " + unit); err != nil {
		return err
	}
	if m.Stops != nil && m.canStart(unit) == nil {
		m.Stops(unit)
	}
	m.Active[unit] = false
	return nil
}
