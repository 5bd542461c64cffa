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

	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// fixture fills a machine with what the tests change.
func fixture(t testing.TB, m *machine) {
	t.Helper()
	m.Write(t, "/etc/passwd", "root:x:0:0::/root:/bin/sh\ncore:x:1000:1000::/home/core:/bin/sh\nada:x:1001:1001::/home/ada:/bin/sh\n", 0o644, 0)
	m.Write(t, "/etc/group", "root:x:0:\ndisk:x:6:\n", 0o644, 0)
	m.Write(t, "/etc/shadow", "root:*:1:\ncore:!:2:0:\nada:$1$old:3:\n", 0o640, 0)
	m.Write(t, "/etc/hosts", "127.0.0.1 localhost", 0o664, 3)
	m.Write(t, "/etc/motd", "welcome\n", 0o644, 0)
	m.Write(t, "/etc/kept", "kept\n", 0o600, 5)
	m.Write(t, "/etc/sysctl.d/10-host.conf", "net.core.somaxconn = 128\n", 0o644, 0)
	m.Write(t, "/etc/default/grub", "", 0o644, 0)
	m.Write(t, "/usr/sbin/update-grub", "", 0o755, 0)
	m.Write(t, "/boot/grub/grub.cfg", "linux root=x\n", 0o600, 0)
	m.Write(t, "/usr/lib/systemd/system/vendor.service", "[Install]\nWantedBy=multi-user.target\n", 0o644, 0)
	m.Write(t, "/usr/lib/systemd/system/ntp.service", "[Install]\nWantedBy=multi-user.target\n", 0o644, 0)
	m.Write(t, unitDir+"/local.service", "[Install]\nWantedBy=multi-user.target\n", 0o644, 0)
	m.Write(t, "/home/ada/.ssh/authorized_keys", "ssh-rsa ADA ada", 0o600, 1001)
	m.Mkdir(t, "/home/core")
	m.Mkdir(t, "/srv/data")
	m.Mkdir(t, "/srv/empty")
	m.Mkdir(t, "/var/lib")
	m.Mkdir(t, unitDir+"/timers.target.wants")
	m.Mkdir(t, unitDir+"/multi-user.target.wants")
	for p, target := range map[string]string{"/etc/localtime": "../usr/utc", unitDir + "/timers.target.wants/x.timer": "/x", unitDir + "/multi-user.target.wants/x.timer": "/x", unitDir + "/masked.service": "/dev/null"} {
		must(t, m.FS.WriteLink(p, hostfs.Entry{Type: hostfs.Link, Target: target, UID: 4}))
	}
	must(t, m.FS.Change("/srv/data", hostfs.Entry{Type: hostfs.Directory, Mode: 0o1770, UID: 8, GID: 8}))
	for _, unit := range []string{"local.service", "ntp.service"} {
		must(t, m.Enable(context.Background(), unit))
	}
	m.Loaded, m.Calls = m.UnitFiles(), nil
	if d, is := m.Disk.(*disktest.Disk); is {
		d.Sync()
	}
}

func entry(p string) hostconfig.Entry { return hostconfig.Entry{Path: p, Overwrite: true} }

func file(p, content string) hostconfig.File {
	c := []byte(content)
	return hostconfig.File{Entry: entry(p), Contents: &c}
}

func unit(name, target string, enabled *bool) hostconfig.Unit {
	contents := "[Service]\nExecStart=/bin/" + target + "\n[Install]\nWantedBy=" + target + ".target\n"
	return hostconfig.Unit{Name: name, Contents: &contents, Enabled: enabled}
}

var yes, no = true, false

// first uses everything that a configuration can declare.
func first() hostconfig.Config {
	mode, strict, hash, group := uint32(0o4750), uint32(0o700), "$6$new", 3
	data := hostconfig.Entry{Path: "/srv/data", Group: hostconfig.Principal{ID: &group}}
	secret := file("/etc/a/deep/secret", "secret")
	secret.Mode, secret.User, secret.Group = &mode, hostconfig.Principal{Name: "core"}, hostconfig.Principal{Name: "disk"}
	return hostconfig.Config{
		Name:        "rendered-1",
		Directories: []hostconfig.Directory{{Entry: data, Mode: &strict}, {Entry: entry("/srv/new"), Mode: &strict}},
		Files: []hostconfig.File{
			secret, file("/etc/motd", "managed\n"), file("/etc/sysctl.d/50-opcrew.conf", "net.ipv4.ip_forward = 1\n-net.none = 2\n"), file("/etc/x", "x"), file("/srv/empty", "a file in place of a directory"),
			{Entry: entry("/etc/hosts"), Append: [][]byte{[]byte("\n10.0.0.1 a\n"), []byte("10.0.0.2 b\n")}},
			{Entry: entry("/etc/kept"), Mode: &strict},
			{Entry: entry("/etc/empty")},
		},
		Links: []hostconfig.Link{
			{Entry: entry("/etc/localtime"), Target: "../usr/berlin"}, {Entry: entry("/etc/a/link"), Target: "deep/secret"},
			{Entry: entry("/etc/a/hard"), Target: "/etc/motd", Hard: true},
		},
		Units: []hostconfig.Unit{
			unit("new.service", "multi-user", &yes), unit("extra.service", "graphical", &yes), unit("local.service", "multi-user", nil), {Name: "ntp.service", Enabled: &no},
			{Name: "vendor.service", Enabled: &yes, DropIns: []hostconfig.DropIn{{Name: "10-a.conf", Contents: "[Service]\n"}}},
			{Name: "away.service", Mask: &yes}, {Name: "masked.service", Mask: &no},
		},
		Users: []hostconfig.User{
			{Name: "core", SSHAuthorizedKeys: []string{"ssh-rsa ONE"}, PasswordHash: &hash}, {Name: "ada", SSHAuthorizedKeys: []string{"ssh-rsa TWO"}},
		},
		KernelArguments: []string{"a=1"},
	}
}

// second changes most of it: other contents, other types, another [Install] section, things moved, things dropped.
func second() hostconfig.Config {
	c := first()
	c.Name = "rendered-2"
	c.Directories = []hostconfig.Directory{{Entry: entry("/etc/x")}}
	c.Files = []hostconfig.File{
		file("/etc/a", "a file in place of a directory"), file("/etc/x/below", "a directory in place of a file"), file("/etc/motd", "changed\n"),
		file("/etc/sysctl.d/50-opcrew.conf", "net.core.somaxconn = 4096\n"),
		{Entry: entry("/etc/hosts"), Append: [][]byte{[]byte("\n10.0.0.3 c\n")}}, {Entry: entry("/etc/kept"), Append: [][]byte{[]byte("more\n")}},
	}
	c.Links = []hostconfig.Link{{Entry: entry("/etc/hard"), Target: "/etc/motd", Hard: true}}
	c.Units = []hostconfig.Unit{unit("new.service", "timers", &yes), unit("local.service", "timers", nil), unit("vendor.service", "timers", &yes), {Name: "ntp.service", Mask: &yes, Enabled: &no}}
	c.Users = []hostconfig.User{{Name: "core", SSHAuthorizedKeys: []string{"ssh-rsa THREE"}}}
	c.KernelArguments, c.RemovedKernelArguments = []string{"a=2"}, []string{"quiet"}
	return c
}

func none() hostconfig.Config { return hostconfig.Config{Name: "none"} }

// onMachines runs a test with a real directory and with the model of a disk.
func onMachines(t *testing.T, test func(t *testing.T, m *machine)) {
	t.Run("real", func(t *testing.T) {
		dir := t.TempDir()
		root, err := hostfs.OpenRoot(dir)
		must(t, err)
		t.Cleanup(func() { _ = root.Close() })
		m := boot(t, root)
		m.dir = dir
		fixture(t, m)
		test(t, m)
	})
	t.Run("model", func(t *testing.T) {
		m := boot(t, disktest.New())
		fixture(t, m)
		test(t, m)
	})
}

func TestAHostIsByteForByteAsBeforeWhenEverythingIsRemoved(t *testing.T) {
	onMachines(t, func(t *testing.T, m *machine) {
		before := m.Snapshot(t)
		for _, c := range []hostconfig.Config{first(), second(), first(), none(), second(), none()} {
			m.apply(t, c)
			after := m.Snapshot(t)
			m.Calls = nil
			if out := m.apply(t, c); len(out.Steps) > 0 || len(m.Calls) > 0 {
				t.Errorf("%s: expected nothing to do the second time, got %v and %v", c.Name, out.Steps, m.Calls)
			}
			if diff := cmp.Diff(after, m.Snapshot(t)); diff != "" {
				t.Errorf("%s: expected no change the second time: %s", c.Name, diff)
			}
			if c.Name != "none" {
				continue
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("expected the host as before: %s", diff)
			}
			if l := m.ledger(t); len(l.Records) > 0 {
				t.Errorf("expected an empty ledger, got %+v", l.Records)
			}
			if names, _ := m.FS.Names(hostconfig.StateDirectory + "/originals"); len(names) > 0 {
				t.Errorf("expected no copies to be left, got %v", names)
			}
		}
	})
}

func TestAConfigurationIsOnTheHostAsDeclared(t *testing.T) {
	onMachines(t, func(t *testing.T, m *machine) {
		m.apply(t, first())
		for p, want := range map[string]string{
			"/etc/a/deep/secret": "secret", "/etc/hosts": "127.0.0.1 localhost\n10.0.0.1 a\n10.0.0.2 b\n", "/etc/a/hard": "managed\n", "/etc/kept": "kept\n", "/etc/empty": "",
			"/etc/shadow":                     "root:*:1:\ncore:$6$new:2:0:\nada:$1$old:3:\n",
			"/home/core/.ssh/authorized_keys": "# BEGIN opcrew: changes in this block are lost\nssh-rsa ONE\n# END opcrew\n",
			"/home/ada/.ssh/authorized_keys":  "# BEGIN opcrew: changes in this block are lost\nssh-rsa TWO\n# END opcrew\nssh-rsa ADA ada",
		} {
			if got := m.Read(t, p); got != want {
				t.Errorf("%s: expected %q, got %q", p, want, got)
			}
		}
		tree := m.Snapshot(t).Tree
		for p, want := range map[string]hostfs.Entry{
			"/etc/a":                    {Type: hostfs.Directory, Mode: 0o755},
			"/etc/a/deep/secret":        {Type: hostfs.File, Mode: 0o4750, UID: 1000, GID: 6, Hash: hostfs.Hash([]byte("secret"))},
			"/srv/data":                 {Type: hostfs.Directory, Mode: 0o700, UID: 8, GID: 3},
			"/etc/kept":                 {Type: hostfs.File, Mode: 0o700, UID: 5, GID: 5, Hash: hostfs.Hash([]byte("kept\n"))},
			"/etc/localtime":            {Type: hostfs.Link, Target: "../usr/berlin"},
			"/home/core/.ssh":           {Type: hostfs.Directory, Mode: 0o700, UID: 1000, GID: 1000},
			unitDir + "/away.service":   {Type: hostfs.Link, Target: "/dev/null"},
			unitDir + "/masked.service": {},
			unitDir + "/multi-user.target.wants/new.service": {Type: hostfs.Link, Target: unitDir + "/new.service"},
			unitDir + "/multi-user.target.wants/ntp.service": {},
		} {
			if got := tree[p]; !got.Same(want) {
				t.Errorf("%s: expected %+v, got %+v", p, want, got)
			}
		}
		if !m.FS.SameFile("/etc/a/hard", "/etc/motd") || m.Values["net/ipv4/ip_forward"] != "1" || !strings.Contains(m.Read(t, "/boot/grub/grub.cfg"), "a=1") {
			t.Errorf("expected hard link, sysctl and kernel argument, got %v", m.Values)
		}
	})
}

func TestAChangedConfigurationIsOnTheHostAsDeclared(t *testing.T) {
	onMachines(t, func(t *testing.T, m *machine) {
		m.apply(t, first())
		m.apply(t, second())
		if !m.FS.SameFile("/etc/hard", "/etc/motd") || m.Values["net/ipv4/ip_forward"] != "0" || m.Values["net/core/somaxconn"] != "4096" {
			t.Errorf("expected a hard link to the new file, and one sysctl restored, got %v", m.Values)
		}
		tree := m.Snapshot(t).Tree
		for _, p := range []string{"/multi-user.target.wants/new.service", "/multi-user.target.wants/local.service", "/multi-user.target.wants/vendor.service"} {
			if got := tree[unitDir+p]; got.Type != "" {
				t.Errorf("expected the link of the old [Install] section to be removed: %s is %+v", p, got)
			}
		}
		for _, p := range []string{"/timers.target.wants/new.service", "/timers.target.wants/local.service", "/timers.target.wants/vendor.service"} {
			if got := tree[unitDir+p]; got.Type != hostfs.Link {
				t.Errorf("expected the link of the new [Install] section: %s is %+v", p, got)
			}
		}
		if len(tree[bootargs.GrubFile].Hash) == 0 {
			t.Error("expected the file with kernel arguments")
		}
	})
}

func TestStepsAreInTheOrderThatTheHostNeeds(t *testing.T) {
	m := boot(t, disktest.New())
	fixture(t, m)
	m.apply(t, first())
	if want := []string{"disable ntp.service", "daemon-reload", "enable extra.service", "enable new.service", "enable vendor.service", "sysctl net/ipv4/ip_forward", "update-grub"}; !slices.Equal(m.Calls, want) {
		t.Errorf("expected %v, got %v", want, m.Calls)
	}
	p, err := m.host.Plan(context.Background(), second())
	must(t, err)
	at := map[string]int{}
	for i, s := range p.Steps {
		at[s.String()+" "+string(s.To.Type)+s.To.Value] = i
	}
	order := []string{
		"set unit new.service disabled", "set path /etc/a/deep/secret absent", "set path /etc/a/deep absent", "set path /etc/x directory", "set path /etc/a file",
		"set path /etc/localtime link", "set path /etc/hard hardlink", "daemon-reload ", "set unit new.service enabled", "set sysctl net/core/somaxconn 4096", "update-boot ",
	}
	for i, step := range order[1:] {
		before, known := at[order[i]]
		if place, found := at[step]; !known || !found || place < before {
			t.Errorf("expected %q before %q, got %v", order[i], step, p.Steps)
		}
	}
}
