// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// withKeys declares keys of the user core, and a file.
func withKeys(content string) hostconfig.Config {
	return hostconfig.Config{
		Name: "rendered-1", Files: []hostconfig.File{file("/etc/motd", content)},
		Users: []hostconfig.User{{Name: "core", SSHAuthorizedKeys: []string{"ssh-rsa ONE"}}},
	}
}

// moveKeys replaces the directory with the keys of core by a link, as the user core can.
func (m *machine) moveKeys(t *testing.T) {
	t.Helper()
	must(t, m.FS.Remove("/home/core/.ssh/authorized_keys"))
	must(t, m.FS.Remove("/home/core/.ssh"))
	m.Mkdir(t, "/home/core/k")
	must(t, m.FS.WriteLink("/home/core/.ssh", hostfs.Entry{Type: hostfs.Link, Target: "k", UID: 1000, GID: 1000}))
}

func TestALinkOfAUserDoesNotBlockOtherConfigurations(t *testing.T) {
	onMachines(t, func(t *testing.T, m *machine) {
		before := m.Snapshot(t)
		m.apply(t, withKeys("one\n"))
		m.moveKeys(t)
		if _, err := m.host.Plan(context.Background(), withKeys("two\n")); err == nil || !strings.Contains(err.Error(), "follows no links") {
			t.Errorf("expected a configuration with keys to be refused, got %v", err)
		}
		out := m.apply(t, none())
		if len(out.Conflicts) != 2 || m.Read(t, "/etc/motd") != "welcome\n" {
			t.Errorf("expected everything else to be restored, and the link to be reported, got %+v", out)
		}
		must(t, m.FS.Remove("/home/core/.ssh"))
		must(t, m.FS.Remove("/home/core/k"))
		m.apply(t, none())
		if diff := cmp.Diff(before, m.Snapshot(t)); diff != "" || len(m.ledger(t).Records) > 0 {
			t.Errorf("expected the host as before when the link is gone: %s", diff)
		}
	})
}

func TestARevertDoesWhatTheHostPermits(t *testing.T) {
	m := start(t)
	m.apply(t, withKeys("one\n"))
	m.apply(t, withKeys("two\n"))
	m.moveKeys(t)
	out, err := m.host.Revert(context.Background(), withKeys("one\n"))
	must(t, err)
	if len(out.Left) == 0 || !strings.Contains(out.Left[0], "follows no links") || m.Read(t, "/etc/motd") != "one\n" {
		t.Errorf("expected a revert apart from the keys, got %+v", out)
	}
}

func TestARevertGoesOnAfterAStepThatFails(t *testing.T) {
	m := start(t)
	m.apply(t, hostconfig.Config{Name: "rendered-2", Files: []hostconfig.File{file("/etc/a", "new"), file("/etc/motd", "new\n")}})
	m.Disk.(*disktest.Disk).Fix("/etc/a")
	if _, err := m.host.Revert(context.Background(), none()); err == nil || !strings.Contains(err.Error(), "set path /etc/a") {
		t.Errorf("expected the failed step to be reported, got %v", err)
	}
	if got := m.Read(t, "/etc/motd"); got != "welcome\n" {
		t.Errorf("expected the other steps to be carried out, got %q", got)
	}
}

func TestAnObstacleAtTheTemporaryNameDoesNotBlockAChange(t *testing.T) {
	onMachines(t, func(t *testing.T, m *machine) {
		obstacle := "/etc/.opcrew-" + hostfs.Hash([]byte("motd"))[:16]
		m.Write(t, obstacle+"/x", "", 0o644, 1000)
		m.apply(t, withKeys("one\n"))
		if d, is := m.Disk.(*disktest.Disk); is {
			d.Crash(100)
			_, err := m.host.Apply(context.Background(), withKeys("two\n"))
			d.Restart()
			must(t, err)
		}
		m.apply(t, none())
		if got := m.Read(t, "/etc/motd") + m.Read(t, obstacle+"/x"); got != "welcome\n" {
			t.Errorf("expected the original, and the obstacle to stay, got %q", got)
		}
	})
}

func TestASysctlOfAModuleThatTheBootLoadsIsNotRefused(t *testing.T) {
	m := start(t)
	m.apply(t, hostconfig.Config{Name: "rendered-1", Files: []hostconfig.File{
		file("/etc/modules-load.d/br.conf", "br_netfilter\n"), file("/etc/sysctl.d/50-br.conf", "net.bridge.bridge-nf-call-iptables = 1\n"),
	}})
}

func TestARevertLeavesOutASysctlWhoseModuleIsNotLoaded(t *testing.T) {
	m := start(t)
	m.Values["net/bridge/x"] = "0"
	with := withKeys("one\n")
	with.Files = append(with.Files, file("/etc/sysctl.d/50-br.conf", "net.bridge.x = 1\n"))
	m.apply(t, with)
	m.apply(t, withKeys("two\n"))
	delete(m.Values, "net/bridge/x")
	out, err := m.host.Revert(context.Background(), with)
	must(t, err)
	if len(out.Left) != 1 || !strings.Contains(out.Left[0], "no sysctl net/bridge/x") || m.Read(t, "/etc/motd")+m.Read(t, "/etc/sysctl.d/50-br.conf") != "one\nnet.bridge.x = 1\n" {
		t.Errorf("expected the files to be back, and the sysctl to be reported, got %+v", out)
	}
}

func TestAMountPointIsKeptUntilItIsUnmounted(t *testing.T) {
	m := start(t)
	disk := m.Disk.(*disktest.Disk)
	before := m.Snapshot(t)
	m.apply(t, hostconfig.Config{Name: "rendered-1", Directories: []hostconfig.Directory{{Entry: entry("/data")}}})
	disk.Mount("/data", true)
	out := m.apply(t, none())
	if len(out.Kept) != 1 || out.Kept[0] != "/data" {
		t.Errorf("expected the directory to stay, got %+v", out)
	}
	disk.Mount("/data", false)
	m.apply(t, none())
	if diff := cmp.Diff(before, m.Snapshot(t)); diff != "" || len(m.ledger(t).Records) > 0 {
		t.Errorf("expected the host as before: %s", diff)
	}
}

func TestALargeFileIsRefusedAndNotRead(t *testing.T) {
	onMachines(t, func(t *testing.T, m *machine) {
		m.Write(t, "/srv/large", "", 0o644, 0)
		m.grow(t, "/srv/large")
		declared := hostconfig.Config{Name: "rendered-1", Files: []hostconfig.File{file("/srv/large", "x"), file("/etc/motd", "one\n")}}
		if _, err := m.host.Plan(context.Background(), declared); err == nil || !strings.Contains(err.Error(), "move the file away") {
			t.Errorf("expected a file that cannot be copied to be refused, got %v", err)
		}
		if out, err := m.host.Revert(context.Background(), declared); err != nil || len(out.Left) != 1 || m.Read(t, "/etc/motd") != "one\n" {
			t.Errorf("expected a revert apart from the file, got %+v and %v", out, err)
		}
	})
}

// grow makes a file as large as a user can make it with a sparse file.
func (m *machine) grow(t *testing.T, p string) {
	t.Helper()
	if d, is := m.Disk.(*disktest.Disk); is {
		d.Grow(p, 8<<50)
		return
	}
	must(t, os.Truncate(filepath.Join(m.dir, p), 15<<40))
}

func TestARevertKeepsWhatIsBelowAPathThatItLeavesOut(t *testing.T) {
	m := start(t)
	one := hostconfig.Config{Name: "rendered-1", Directories: []hostconfig.Directory{{Entry: hostconfig.Entry{Path: "/srv/app", User: hostconfig.Principal{Name: "core"}}}}, Files: []hostconfig.File{file("/srv/app/conf", "one")}}
	m.apply(t, one)
	m.Write(t, "/etc/passwd", "root:x:0:0::/root:/bin/sh\n", 0o644, 0) // the owner is gone
	out, err := m.host.Revert(context.Background(), one)
	must(t, err)
	if len(out.Left) != 1 || m.Read(t, "/srv/app/conf") != "one" {
		t.Errorf("expected the file to stay, got %+v", out)
	}
}
