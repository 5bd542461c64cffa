// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/drift"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/agents/machine/hosttest"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

func start(t *testing.T) *machine {
	t.Helper()
	m := boot(t, disktest.New())
	fixture(t, m)
	return m
}

func (m *machine) drifts(t *testing.T) (out []string) {
	t.Helper()
	l := m.ledger(t)
	states, unreadable := m.host.States(context.Background(), l)
	if len(unreadable) > 0 {
		t.Fatal(unreadable)
	}
	for _, d := range drift.Scan(l, states) {
		out = append(out, d.String())
	}
	return out
}

func TestDriftIsFoundAndRepaired(t *testing.T) {
	m := start(t)
	m.apply(t, first())
	if got := m.drifts(t); len(got) > 0 {
		t.Fatalf("expected no drift after an application, got %v", got)
	}
	want := m.Snapshot(t)
	m.Write(t, "/etc/motd", "edited\n", 0o644, 0)
	m.Write(t, "/etc/kept", "its content is not opcrew's\n", 0o700, 5)
	must(t, m.FS.Change("/srv/data", hostfs.Entry{Type: hostfs.Directory, Mode: 0o777, UID: 8, GID: 3}))
	must(t, m.FS.Remove("/etc/a/link"))
	must(t, m.FS.Remove(unitDir+"/multi-user.target.wants/new.service"))
	m.Values["net/ipv4/ip_forward"] = "0"
	expected := []string{
		"/etc/a/hard: it is file instead of hardlink", "/etc/a/link: it is absent instead of link", "/etc/motd: the content was changed",
		"/srv/data: the mode is 0777 instead of 0700", "net/ipv4/ip_forward: it is 0 instead of 1", "new.service: it is disabled instead of enabled",
	}
	if diff := cmp.Diff(expected, m.drifts(t)); diff != "" {
		t.Error(diff)
	}
	m.apply(t, first())
	m.Write(t, "/etc/kept", "kept\n", 0o700, 5)
	if diff := cmp.Diff(want, m.Snapshot(t)); diff != "" {
		t.Errorf("expected an application to repair all drift: %s", diff)
	}
	m.Write(t, "/etc/motd", "edited\n", 0o644, 0)
	if got := m.drifts(t); len(got) == 0 {
		t.Error("expected the same drift to be found again after a repair")
	}
}

func TestWhatAnotherUserChangedIsNotRemoved(t *testing.T) {
	m := start(t)
	before := m.Snapshot(t)
	m.apply(t, first())
	m.Write(t, "/etc/motd", "edited\n", 0o644, 0)
	m.Write(t, "/etc/a/foreign", "foreign\n", 0o644, 0)
	m.Write(t, "/home/core/.ssh/authorized_keys", "ssh-rsa FOREIGN\n"+m.Read(t, "/home/core/.ssh/authorized_keys"), 0o600, 1000)
	out := m.apply(t, none())
	if len(out.Conflicts) != 1 || !strings.Contains(out.Conflicts[0].String(), "path /etc/motd was changed on the host") || !slices.Equal(out.Kept, []string{"/home/core/.ssh", "/etc/a"}) {
		t.Errorf("expected the edited file and the used directories to be reported, got %v and %v", out.Conflicts, out.Kept)
	}
	if got := m.Read(t, "/etc/motd") + m.Read(t, "/etc/a/foreign") + m.Read(t, "/home/core/.ssh/authorized_keys"); got != "edited\nforeign\nssh-rsa FOREIGN\n" {
		t.Errorf("expected the changes of users to stay, got %q", got)
	}
	if got := m.drifts(t); !slices.Equal(got, []string{"/etc/motd: the content was changed"}) {
		t.Errorf("expected the drift to be reported, got %v", got)
	}
	again := m.apply(t, none())
	if len(again.Steps) > 0 || len(again.Conflicts) != 1 || len(again.Kept) != 2 {
		t.Errorf("expected nothing to be done, and the same report, got %+v", again)
	}
	original, err := m.host.Store.Original(before.Tree["/etc/motd"].Hash)
	if err != nil || string(original) != "welcome\n" {
		t.Errorf("expected the original to stay available, got %q and %v", original, err)
	}
	m.Write(t, "/etc/motd", "managed\n", 0o644, 0) // the user undoes the change
	must(t, m.FS.Remove("/etc/a/foreign"))
	must(t, m.FS.Remove("/home/core/.ssh/authorized_keys"))
	m.apply(t, none())
	if diff := cmp.Diff(before, m.Snapshot(t)); diff != "" {
		t.Errorf("expected the host as before: %s", diff)
	}
	if l := m.ledger(t); len(l.Records) > 0 {
		t.Errorf("expected an empty ledger, got %+v", l.Records)
	}
}

func TestAdoptedDriftStaysUntilTheConfigurationChanges(t *testing.T) {
	m := start(t)
	m.apply(t, first())
	m.Write(t, "/etc/motd", "adopted\n", 0o600, 7)
	l := m.ledger(t)
	states, unreadable := m.host.States(context.Background(), l)
	if len(unreadable) > 0 {
		t.Fatal(unreadable)
	}
	found := slices.DeleteFunc(drift.Scan(l, states), func(d drift.Drift) bool { return d.Name != "/etc/motd" })
	must(t, m.host.Store.Save(drift.Adopted(l, found)))
	for range 2 {
		m.apply(t, first())
		if got := m.Read(t, "/etc/motd"); got != "adopted\n" {
			t.Errorf("expected the adopted content to stay, got %q", got)
		}
	}
	m.apply(t, second())
	if got := m.Read(t, "/etc/motd"); got != "changed\n" {
		t.Errorf("expected a new configuration to win, got %q", got)
	}
	m.apply(t, none())
	if got := m.Read(t, "/etc/motd"); got != "adopted\n" {
		t.Errorf("expected the adopted content to be the original, got %q", got)
	}
}

// TestWhatTheHostCannotDoIsRefusedBeforeAnyChange has units for which systemctl would do nothing (odd), among others.
func TestWhatTheHostCannotDoIsRefusedBeforeAnyChange(t *testing.T) {
	content, also := []byte("x"), "[Install]\nAlso=ntp.service\n"
	odd := func(m *machine) {
		m.Write(t, "/usr/lib/systemd/system/log.service", also, 0o644, 0)
		m.Write(t, "/usr/lib/systemd/system/t@.service", "[Install]\nWantedBy=multi-user.target\n", 0o644, 0)
		must(t, m.FS.WriteLink(unitDir+"/sshd.service", hostfs.Entry{Type: hostfs.Link, Target: "/usr/lib/systemd/system/ntp.service"}))
	}
	for _, test := range []struct {
		name, want string
		config     hostconfig.Config
		prepare    func(m *machine)
	}{
		{"a link on the way", "declare /usr/lib/x instead", hostconfig.Config{Files: []hostconfig.File{file("/lib/x", "x")}}, nil},
		{"another type", "overwrite: true", hostconfig.Config{Files: []hostconfig.File{{Entry: hostconfig.Entry{Path: "/etc/localtime"}, Contents: &content}}}, nil},
		{"a directory with entries", "contains data", hostconfig.Config{Files: []hostconfig.File{file("/srv", "x")}}, nil},
		{"below a file", "/etc/hosts is a file", hostconfig.Config{Files: []hostconfig.File{file("/etc/hosts/x", "x")}}, nil},
		{"unknown user", "no user eve", hostconfig.Config{Users: []hostconfig.User{{Name: "eve", SSHAuthorizedKeys: []string{"k"}}}}, nil},
		{"unknown owner", "no group eve", hostconfig.Config{Directories: []hostconfig.Directory{{Entry: hostconfig.Entry{Path: "/x", Group: hostconfig.Principal{Name: "eve"}}}}}, nil},
		{"unknown unit", "declare its contents", hostconfig.Config{Units: []hostconfig.Unit{{Name: "x.service", Enabled: &yes}}}, nil},
		{"masked unit", "declare mask: false", hostconfig.Config{Units: []hostconfig.Unit{{Name: "masked.service", Enabled: &yes}}}, nil},
		{"unknown sysctl", "write a dash", hostconfig.Config{Files: []hostconfig.File{file("/etc/sysctl.d/1.conf", "net.x = 1")}}, nil},
		{"wrong sysctl", "line 1", hostconfig.Config{Files: []hostconfig.File{file("/etc/sysctl.d/1.conf", "net.x")}}, nil},
		{"no boot loader", "Activity", hostconfig.Config{KernelArguments: []string{"a"}}, func(m *machine) { must(t, m.FS.Remove("/etc/default/grub")) }},
		{"immutable", "immutable", hostconfig.Config{Files: []hostconfig.File{file("/etc/motd", "x")}}, func(m *machine) { m.Disk.(*disktest.Disk).Fix("/etc/motd") }},
		{"immutable directory", "immutable", hostconfig.Config{Files: []hostconfig.File{file("/srv/data/a/b", "x")}}, func(m *machine) { m.Disk.(*disktest.Disk).Fix("/srv/data") }},
		{"keys behind a link", "is a link", hostconfig.Config{Users: []hostconfig.User{{Name: "ada", SSHAuthorizedKeys: []string{"k"}}}}, func(m *machine) {
			must(t, m.FS.WriteLink("/home/ada/.ssh/authorized_keys", hostfs.Entry{Type: hostfs.Link, Target: "/etc/shadow"}))
		}},
		{"keys in a directory behind a link", "follows no links", hostconfig.Config{Users: []hostconfig.User{{Name: "core", SSHAuthorizedKeys: []string{"k"}}}}, func(m *machine) {
			must(t, m.FS.WriteLink("/home/core/.ssh", hostfs.Entry{Type: hostfs.Link, Target: "/root"}))
		}},
		{"mount point", "mount point", hostconfig.Config{Files: []hostconfig.File{file("/etc/hosts", "x")}}, func(m *machine) { m.Disk.(*disktest.Disk).Mount("/etc/hosts", true) }},
		{"disabled alias", "another name", hostconfig.Config{Units: []hostconfig.Unit{{Name: "sshd.service", Enabled: &no}}}, odd},
		{"enabled alias", "another name", hostconfig.Config{Units: []hostconfig.Unit{{Name: "sshd.service", Enabled: &yes}}}, odd},
		{"indirect unit", "with Also", hostconfig.Config{Units: []hostconfig.Unit{{Name: "log.service", Enabled: &yes}}}, odd},
		{"disabled indirect unit", "with Also", hostconfig.Config{Units: []hostconfig.Unit{{Name: "log.service", Enabled: &no}}}, odd},
		{"new indirect unit", "with Also", hostconfig.Config{Units: []hostconfig.Unit{{Name: "new.service", Contents: &also, Enabled: &yes}}}, nil},
		{"template", "declare an instance", hostconfig.Config{Units: []hostconfig.Unit{{Name: "t@.service", Enabled: &yes}}}, odd},
		{"invalid", "must be absolute", hostconfig.Config{Files: []hostconfig.File{file("x", "x")}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := start(t)
			must(t, m.FS.WriteLink("/lib", hostfs.Entry{Type: hostfs.Link, Target: "usr/lib"}))
			if test.prepare != nil {
				test.prepare(m)
			}
			before := m.Snapshot(t)
			config := test.config
			config.Name = "rendered-1"
			config.Files = append(config.Files, file("/etc/also", "x"))
			_, err := m.host.Apply(context.Background(), config)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("expected an error with %q, got %v", test.want, err)
			}
			if diff := cmp.Diff(before, m.Snapshot(t)); diff != "" || len(m.ledger(t).Records) > 0 {
				t.Errorf("expected no change: %s", diff)
			}
		})
	}
}

func TestAFileThatChangesDuringTheApplicationIsNotLost(t *testing.T) {
	m := start(t)
	p, err := m.host.Plan(context.Background(), first())
	must(t, err)
	m.Write(t, "/etc/motd", "edited a moment ago\n", 0o644, 0)
	if _, err := m.host.execute(context.Background(), ledger.Ledger{}, p, false); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("expected the change to be noticed, got %v", err)
	}
	if got := m.Read(t, "/etc/motd"); got != "edited a moment ago\n" {
		t.Errorf("expected the edited file to stay, got %q", got)
	}
}

func TestAValueThatTheKernelRoundsIsNoDrift(t *testing.T) {
	m := start(t)
	before := m.Snapshot(t)
	m.Stored = map[string]string{"1024": "900", "2048": "2000"}
	declare := func(value string) hostconfig.Config {
		return hostconfig.Config{Name: "rendered-1", Files: []hostconfig.File{file("/etc/sysctl.d/50-x.conf", "net.core.somaxconn = "+value+"\n")}}
	}
	for value, want := range map[string]string{"1024": "900", "2048": "2000"} {
		m.apply(t, declare(value))
		if out := m.apply(t, declare(value)); len(out.Steps) > 0 || len(m.drifts(t)) > 0 || m.Values["net/core/somaxconn"] != want {
			t.Errorf("expected the value of the kernel to be no drift, got %v and %v", out.Steps, m.drifts(t))
		}
	}
	m.Values["net/core/somaxconn"] = "5"
	if got := m.drifts(t); len(got) != 1 {
		t.Errorf("expected another value to be drift, got %v", got)
	}
	m.apply(t, declare("1024"))
	m.apply(t, none())
	if diff := cmp.Diff(before, m.Snapshot(t)); diff != "" {
		t.Errorf("expected the host as before: %s", diff)
	}
}

func TestAWriteOnlySysctlIsSetByTheBoot(t *testing.T) {
	m := start(t)
	m.Values["net/ipv4/route/flush"] = hosttest.WriteOnly
	m.apply(t, hostconfig.Config{Name: "rendered-1", Files: []hostconfig.File{file("/etc/sysctl.d/50-x.conf", "net.ipv4.route.flush = 1\n")}})
	if got := m.drifts(t); len(got) > 0 {
		t.Errorf("expected no drift, got %v", got)
	}
}
