// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

func TestEntriesOfSystemdBootGetTheArgumentsAndLoseThem(t *testing.T) {
	const entries = "/efi/loader/entries/"
	m := start(t)
	must(t, m.FS.Remove("/usr/sbin/update-grub"))
	m.Write(t, "/efi/loader/loader.conf", "", 0o644, 0)
	m.Write(t, entries+"a.conf", "title A\noptions root=x quiet\n", 0o600, 0)
	m.Write(t, entries+"b.conf", "title B\noptions root=y", 0o644, 0)
	m.Write(t, "/etc/kernel/cmdline", "root=x quiet\n", 0o644, 0)
	before := m.Snapshot(t)
	declare := func(add, remove []string) hostconfig.Config {
		return hostconfig.Config{Name: "rendered-1", KernelArguments: add, RemovedKernelArguments: remove}
	}
	for _, test := range []struct {
		config hostconfig.Config
		want   string
	}{
		{declare([]string{"a=1"}, []string{"quiet"}), "title A\noptions root=x a=1\ntitle B\noptions root=y a=1root=x a=1\n"},
		{declare([]string{"a=2"}, nil), "title A\noptions root=x quiet a=2\ntitle B\noptions root=y a=2root=x quiet a=2\n"},
	} {
		m.apply(t, test.config)
		if got := m.Read(t, entries+"a.conf") + m.Read(t, entries+"b.conf") + m.Read(t, "/etc/kernel/cmdline"); got != test.want {
			t.Errorf("expected %q, got %q", test.want, got)
		}
		if out := m.apply(t, test.config); len(out.Steps) > 0 {
			t.Errorf("expected nothing to do the second time, got %v", out.Steps)
		}
	}
	must(t, m.FS.Remove(entries+"b.conf")) // the kernel of the entry was removed
	delete(before.Tree, entries+"b.conf")
	m.apply(t, none())
	if diff := cmp.Diff(before, m.Snapshot(t)); diff != "" || len(m.ledger(t).Records) > 0 {
		t.Errorf("expected the entries as before: %s", diff)
	}
}
