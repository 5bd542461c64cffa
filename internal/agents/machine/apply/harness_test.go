// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hosttest"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

const unitDir = hostconfig.UnitDirectory

var maskLink = hostfs.Entry{Type: hostfs.Link, Target: hostconfig.MaskTarget}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// machine is a host that the package changes.
type machine struct {
	*hosttest.Machine
	host *Host
	dir  string // of the disk; empty for the model
}

type snapshot = hosttest.Snapshot

// boot starts a machine with a disk.
func boot(t testing.TB, disk hostfs.Disk) *machine {
	t.Helper()
	m := hosttest.Boot(t, disk)
	return &machine{Machine: m, host: &Host{
		FS: m.FS, Store: ledger.NewStore(m.FS, hostconfig.StateDirectory), Units: m, Kernel: m, UpdateBoot: m.UpdateBoot, SetLabels: m.SetLabels,
		LockUsers: func(context.Context) (func(), error) { return func() {}, nil },
	}}
}

func (m *machine) ledger(t testing.TB) ledger.Ledger {
	t.Helper()
	l, err := m.host.Store.Load()
	must(t, err)
	return l
}

func (m *machine) apply(t testing.TB, c hostconfig.Config) Result {
	t.Helper()
	out, err := m.host.Apply(context.Background(), c)
	must(t, err)
	if diff := cmp.Diff(m.UnitFiles(), m.Loaded); diff != "" {
		t.Fatalf("expected systemd to know the unit files on disk: %s", diff)
	}
	return out
}
