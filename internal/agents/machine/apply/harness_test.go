// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"maps"
	gopath "path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/sysctl"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

const unitDir = hostconfig.UnitDirectory

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// machine is a host whose programs share the fate of the agent: a crash stops them, and a power loss restarts them.
type machine struct {
	disk hostfs.Disk
	fs   *hostfs.FS
	host *Host
	// values are the sysctls, and loaded the unit files that systemd has read.
	values map[string]string
	loaded map[string]string
	calls  []string
}

// boot starts a machine with a disk.
func boot(t testing.TB, disk hostfs.Disk) *machine {
	t.Helper()
	fs := hostfs.New(disk)
	m := &machine{disk: disk, fs: fs, values: map[string]string{"net/ipv4/ip_forward": "0", "net/core/somaxconn": "128"}}
	m.host = &Host{
		FS: fs, Store: ledger.NewStore(fs, hostconfig.StateDirectory), Units: m, Kernel: m, UpdateBoot: m.updateBoot,
		LockUsers: func(context.Context) (func(), error) { return func() {}, nil },
	}
	names, err := fs.Names(sysctl.Directory)
	must(t, err)
	files := map[string]string{}
	for _, name := range names {
		p := gopath.Join(sysctl.Directory, name)
		if content, _, err := fs.ReadFile(p, 1<<20); err == nil && sysctl.IsFile(p) {
			files[p] = string(content)
		}
	}
	settings, err := sysctl.Merge(files)
	must(t, err)
	for name, s := range settings {
		if _, known := m.values[name]; known {
			m.values[name] = s.Value
		}
	}
	m.loaded = m.unitFiles()
	return m
}

// call counts a writing call of a fake, which fails after a crash.
func (m *machine) call(what string) error {
	m.calls = append(m.calls, what)
	if d, is := m.disk.(*disktest.Disk); is {
		return d.Call()
	}
	return nil
}

// uncrashed lets a program complete that a crash of the agent does not stop, until the returned function is called.
func (m *machine) uncrashed() func() {
	if d, is := m.disk.(*disktest.Disk); is {
		return d.Pause()
	}
	return func() {}
}

func (m *machine) Get(name string) (string, bool, error) {
	value, found := m.values[name]
	return value, found, nil
}

func (m *machine) Set(name, value string) error {
	if err := m.call("sysctl " + name); err != nil {
		return err
	}
	m.values[name] = value
	return nil
}

func (m *machine) updateBoot(context.Context) error {
	m.calls = append(m.calls, "update-grub")
	script, _, _ := m.fs.ReadFile(bootargs.GrubFile, 1<<20)
	return m.fs.WriteFile("/boot/grub/grub.cfg", append([]byte("linux root=x\n"), script...), hostfs.Entry{Type: hostfs.File, Mode: 0o600})
}

// unitFile returns the path and content of a unit file; empty if there is none.
func (m *machine) unitFile(unit string) (string, string) {
	for _, dir := range []string{unitDir, "/usr/lib/systemd/system"} {
		if content, _, err := m.fs.ReadFile(gopath.Join(dir, unit), 1<<20); err == nil {
			return gopath.Join(dir, unit), string(content)
		}
		if found, _ := m.fs.Read(gopath.Join(dir, unit)); found.Type == hostfs.Link {
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

func (m *machine) Enablement(_ context.Context, unit string) (string, error) {
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
		if found, err := m.fs.Read(gopath.Join(dir, unit)); err != nil || found.Type != hostfs.Absent {
			return units.Enabled, err
		}
	}
	return units.Disabled, nil
}

func (m *machine) Enable(_ context.Context, unit string) error {
	if err := m.call("enable " + unit); err != nil {
		return err
	}
	defer m.uncrashed()()
	p, content := m.unitFile(unit)
	for _, dir := range wants(content) {
		d, err := m.disk.OpenDir(dir)
		if err != nil {
			parent, _ := m.disk.OpenDir(unitDir)
			if err := parent.Mkdir(gopath.Base(dir)); err != nil {
				return err
			}
			if d, err = m.disk.OpenDir(dir); err != nil {
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
func (m *machine) Disable(_ context.Context, unit string) error {
	if err := m.call("disable " + unit); err != nil {
		return err
	}
	defer m.uncrashed()()
	names, err := m.fs.Names(unitDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".wants") {
			continue
		}
		d, err := m.disk.OpenDir(gopath.Join(unitDir, name))
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
			parent, _ := m.disk.OpenDir(unitDir)
			if err := parent.Remove(name, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *machine) DaemonReload(context.Context) error {
	if err := m.call("daemon-reload"); err != nil {
		return err
	}
	m.loaded = m.unitFiles()
	return nil
}

func (m *machine) Reload(_ context.Context, unit string) error  { return m.call("reload " + unit) }
func (m *machine) Restart(_ context.Context, unit string) error { return m.call("restart " + unit) }

// unitFiles returns the hash of each unit file.
func (m *machine) unitFiles() map[string]string {
	tree, _ := disktest.Tree(m.fs, unitDir, "")
	out := map[string]string{}
	for p, entry := range tree {
		if entry.Type == hostfs.File {
			out[p] = entry.Hash
		}
	}
	return out
}

// snapshot is everything that a user sees of a machine, apart from the agent's own directory and the directories of
// links to units: a power loss during systemctl can leave an empty one, and systemctl removes it the next time.
type snapshot struct {
	Tree   map[string]hostfs.Entry
	Values map[string]string
}

func (m *machine) snapshot(t testing.TB) snapshot {
	t.Helper()
	tree, err := disktest.Tree(m.fs, "/", "/var/lib/opcrew")
	must(t, err)
	maps.DeleteFunc(tree, func(p string, _ hostfs.Entry) bool { return strings.HasSuffix(p, ".wants") })
	return snapshot{tree, maps.Clone(m.values)}
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
	if diff := cmp.Diff(m.unitFiles(), m.loaded); diff != "" {
		t.Fatalf("expected systemd to know the unit files on disk: %s", diff)
	}
	return out
}

// write creates a file with its parents.
func (m *machine) write(t testing.TB, p, content string, mode uint32, uid int) {
	t.Helper()
	m.mkdir(t, gopath.Dir(p))
	must(t, m.fs.WriteFile(p, []byte(content), hostfs.Entry{Type: hostfs.File, Mode: mode, UID: uid, GID: uid}))
}

func (m *machine) mkdir(t testing.TB, p string) {
	t.Helper()
	if found, err := m.fs.Read(p); p != "/" && (err != nil || found.Type != hostfs.Directory) {
		m.mkdir(t, gopath.Dir(p))
		must(t, m.fs.MakeDirectory(p, hostfs.Entry{Type: hostfs.Directory, Mode: 0o755}))
	}
}

func (m *machine) read(t testing.TB, p string) string {
	t.Helper()
	content, _, err := m.fs.ReadFile(p, 1<<20)
	must(t, err)
	return string(content)
}
