// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hosttest

import (
	"context"
	"io/fs"
	"maps"
	gopath "path"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/agents/machine/sysctl"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// WriteOnly is the value of a sysctl that no one can read.
const WriteOnly = "write-only"

const unitDir = hostconfig.UnitDirectory

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Machine is a host whose programs share the fate of the agent: a crash stops them, and a power loss restarts them. It
// is a units.Manager and a sysctl.Kernel.
type Machine struct {
	Disk hostfs.Disk
	FS   *hostfs.FS
	// Values are the sysctls, and Loaded the unit files that systemd has read.
	Values map[string]string
	Loaded map[string]string
	// Stored are the values that the kernel stores in place of others.
	Stored map[string]string
	// Active are the units that run, and Broken those that do not start.
	Active, Broken map[string]bool
	// Starts is called when a unit is restarted, and Stops when one is stopped that has a file; nil for nothing.
	Starts, Stops func(unit string)
	// Unknown is the error with which systemctl answers while systemd cannot be asked; nil if it can.
	Unknown error
	// Calls are the changing calls of programs and of the kernel.
	Calls []string
}

// Boot starts a machine with a disk.
func Boot(t testing.TB, disk hostfs.Disk) *Machine {
	t.Helper()
	fs := hostfs.New(disk)
	m := &Machine{Disk: disk, FS: fs, Values: map[string]string{"net/ipv4/ip_forward": "0", "net/core/somaxconn": "128"}}
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
		if _, known := m.Values[name]; known {
			m.Values[name] = s.Value
		}
	}
	m.Loaded = m.UnitFiles()
	m.startAll()
	return m
}

// UnitFiles returns the hash of each unit file.
func (m *Machine) UnitFiles() map[string]string {
	tree, _ := disktest.Tree(m.FS, unitDir, "")
	out := map[string]string{}
	for p, entry := range tree {
		if entry.Type == hostfs.File {
			out[p] = entry.Hash
		}
	}
	return out
}

// Call counts a writing call of a fake, which fails after a crash.
func (m *Machine) Call(what string) error {
	m.Calls = append(m.Calls, what)
	if d, is := m.Disk.(*disktest.Disk); is {
		return d.Call()
	}
	return nil
}

// uncrashed lets a program complete that a crash of the agent does not stop, until the returned function is called.
func (m *Machine) uncrashed() func() {
	if d, is := m.Disk.(*disktest.Disk); is {
		return d.Pause()
	}
	return func() {}
}

// Get returns a sysctl.
func (m *Machine) Get(name string) (string, bool, error) {
	value, found := m.Values[name]
	if value == WriteOnly {
		return "", false, fs.ErrPermission
	}
	return value, found, nil
}

// Set changes a sysctl.
func (m *Machine) Set(name, value string) error {
	if err := m.Call("sysctl " + name); err != nil {
		return err
	}
	m.Values[name] = value
	if stored, is := m.Stored[value]; is {
		m.Values[name] = stored
	}
	return nil
}

// UpdateBoot writes the file of the boot loader, as update-grub does: it does not sync it.
func (m *Machine) UpdateBoot(context.Context) error {
	m.Calls = append(m.Calls, "update-grub")
	script, _, _ := m.FS.ReadFile(bootargs.GrubFile, 1<<20)
	d, err := m.Disk.OpenDir("/boot/grub")
	if err != nil {
		return err
	}
	defer d.Close()
	const next = "grub.cfg.new"
	_ = d.Remove(next, false) // of an earlier call that crashed
	file, err := d.Create(next)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(append([]byte("linux root=x\n"), script...)); err != nil {
		return err
	}
	return d.Rename(next, "grub.cfg")
}

// Snapshot is what a user sees of a machine, apart from the agent's own directory and the directories of links to units:
// a power loss during systemctl can leave an empty one, which it removes the next time. What systemctl and update-grub
// write has no label here, because these programs set it.
type Snapshot struct {
	Tree   map[string]hostfs.Entry
	Values map[string]string
}

// Snapshot returns the state of the machine.
func (m *Machine) Snapshot(t testing.TB) Snapshot {
	t.Helper()
	tree, err := disktest.Tree(m.FS, "/", "/var/lib/opcrew")
	must(t, err)
	maps.DeleteFunc(tree, func(p string, _ hostfs.Entry) bool { return strings.HasSuffix(p, ".wants") })
	for p, entry := range tree {
		if strings.Contains(p, ".wants/") || p == "/boot/grub/grub.cfg" {
			entry.Label = ""
			tree[p] = entry
		}
	}
	return Snapshot{tree, maps.Clone(m.Values)}
}

// Write creates a file with its parents.
func (m *Machine) Write(t testing.TB, p, content string, mode uint32, uid int) {
	t.Helper()
	m.Mkdir(t, gopath.Dir(p))
	must(t, m.FS.WriteFile(p, []byte(content), hostfs.Entry{Type: hostfs.File, Mode: mode, UID: uid, GID: uid}))
}

// Mkdir creates a directory with its parents.
func (m *Machine) Mkdir(t testing.TB, p string) {
	t.Helper()
	if found, err := m.FS.Read(p); p != "/" && (err != nil || found.Type != hostfs.Directory) {
		m.Mkdir(t, gopath.Dir(p))
		must(t, m.FS.MakeDirectory(p, hostfs.Entry{Type: hostfs.Directory, Mode: 0o755}))
	}
}

// Read returns the content of a file.
func (m *Machine) Read(t testing.TB, p string) string {
	t.Helper()
	content, _, err := m.FS.ReadFile(p, 1<<20)
	must(t, err)
	return string(content)
}
