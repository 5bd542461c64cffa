// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

func (m *machine) expectWord(t *testing.T, unit, want string) {
	t.Helper()
	if got, err := m.Enablement(context.Background(), unit); err != nil || got != want {
		t.Errorf("expected %s to be %s, got %s and %v", unit, want, got, err)
	}
}

func onlyUnit(u hostconfig.Unit) hostconfig.Config {
	return hostconfig.Config{Name: "rendered-1", Units: []hostconfig.Unit{u}}
}

func TestAnEnabledUnitIsMaskedAndLaterEnabledAgain(t *testing.T) {
	onMachines(t, func(t *testing.T, m *machine) {
		before := m.Snapshot(t)
		m.apply(t, onlyUnit(hostconfig.Unit{Name: "ntp.service", Mask: &yes}))
		m.expectWord(t, "ntp.service", units.Masked)
		m.apply(t, onlyUnit(hostconfig.Unit{Name: "ntp.service", Enabled: &no}))
		m.expectWord(t, "ntp.service", units.Disabled)
		m.apply(t, onlyUnit(hostconfig.Unit{Name: "ntp.service", Mask: &yes}))
		m.apply(t, none())
		m.expectWord(t, "ntp.service", units.Enabled)
		if diff := cmp.Diff(before, m.Snapshot(t)); diff != "" || len(m.ledger(t).Records) > 0 {
			t.Errorf("expected the host as before: %s", diff)
		}
	})
}

func TestAUnitThatOpcrewMaskedCanBeEnabled(t *testing.T) {
	onMachines(t, func(t *testing.T, m *machine) {
		enabled := onlyUnit(hostconfig.Unit{Name: "vendor.service", Enabled: &yes})
		m.apply(t, enabled)
		m.apply(t, onlyUnit(hostconfig.Unit{Name: "vendor.service", Mask: &yes}))
		m.apply(t, enabled)
		m.expectWord(t, "vendor.service", units.Enabled)
	})
}

func TestAUnitThatAUserMaskedIsNotEnabledAgain(t *testing.T) {
	m := start(t)
	m.apply(t, onlyUnit(hostconfig.Unit{Name: "ntp.service", Enabled: &no}))
	must(t, m.FS.WriteLink(unitDir+"/ntp.service", maskLink))
	if out := m.apply(t, none()); len(out.Conflicts) != 1 {
		t.Errorf("expected the mask of the user to stay, and to be reported, got %+v", out)
	}
	must(t, m.FS.Remove(unitDir+"/ntp.service"))
	m.apply(t, none())
	m.expectWord(t, "ntp.service", units.Enabled)
}
