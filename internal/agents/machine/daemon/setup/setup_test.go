// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package setup

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/cluster"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var server = cluster.Server{URL: "https://10.0.0.1:6443", CA: "certificates", Node: "node-a"}

// machine is a simulated host.
type machine struct {
	*host
	disk  *disktest.Disk
	calls []string
}

func start(t testing.TB, disk *disktest.Disk) *machine {
	t.Helper()
	m := &machine{disk: disk}
	m.host = &host{fs: hostfs.New(disk), log: slog.New(slog.NewTextHandler(io.Discard, nil)), program: func() ([]byte, error) { return []byte("program"), nil }}
	m.run = func(_ context.Context, self bool, args ...string) error {
		m.calls = append(m.calls, strings.Join(args, " "))
		if err := disk.Call(); err != nil {
			return err
		}
		if self {
			return ledger.NewStore(m.fs, hostconfig.StateDirectory).Save(ledger.Ledger{})
		}
		return nil
	}
	return m
}

// fresh returns a host with the directories of a distribution, and its tree.
func fresh(t testing.TB) (*machine, map[string]hostfs.Entry) {
	t.Helper()
	m := start(t, disktest.New())
	for _, p := range []string{"/usr/local/lib", "/usr/bin", "/var/lib/opcrew/activities", "/etc/systemd/system"} {
		must(t, m.makeDir(p))
	}
	must(t, m.fs.WriteFile("/usr/bin/systemctl", nil, hostfs.Entry{Type: hostfs.File, Mode: 0o755, Label: "bin_t"}))
	m.disk.Sync()
	return m, m.tree(t)
}

func (m *machine) tree(t testing.TB) map[string]hostfs.Entry {
	t.Helper()
	tree, err := disktest.Tree(m.fs, "/", "")
	must(t, err)
	return tree
}

func (m *machine) text(t testing.TB, p string) string {
	t.Helper()
	content, _, err := m.fs.ReadFile(p, 1<<20)
	must(t, err)
	return string(content)
}

func TestAnInstallationCanBeRepeated(t *testing.T) {
	m, _ := fresh(t)
	must(t, m.install(t.Context(), server, "token-1"))
	tree := m.tree(t)
	for p, want := range map[string]hostfs.Entry{
		usual + "/opcrew-machine":                    {Type: hostfs.File, Mode: 0o755, Hash: hostfs.Hash([]byte("program"))},
		unitFile:                                     {Type: hostfs.File, Mode: 0o644, Hash: tree[unitFile].Hash},
		"/var/lib/opcrew/machine/credentials":        {Type: hostfs.Directory, Mode: 0o700},
		"/var/lib/opcrew/machine/credentials/token":  {Type: hostfs.File, Mode: 0o600, Hash: hostfs.Hash([]byte("token-1"))},
		"/var/lib/opcrew/machine/credentials/server": {Type: hostfs.File, Mode: 0o600, Hash: hostfs.Hash(encode(server))},
	} {
		if !tree[p].Same(want) {
			t.Errorf("%s: expected %+v, got %+v", p, want, tree[p])
		}
	}
	if label := tree[usual+"/opcrew-machine"].Label; label != "bin_t" {
		t.Errorf("expected the label of a program, so that systemd starts it, got %q", label)
	}
	if text := m.text(t, unitFile); !strings.Contains(text, "ExecStart=/usr/local/lib/opcrew/opcrew-machine run\n") {
		t.Errorf("expected the unit to start the program, got %s", text)
	}
	must(t, m.install(t.Context(), server, "token-1"))
	if diff := cmp.Diff(tree, m.tree(t)); diff != "" || !strings.HasSuffix(m.calls[len(m.calls)-1], "restart opcrew-machine.service") {
		t.Errorf("expected the second installation to change nothing, got %v, %s", m.calls, diff)
	}
}

// TestTheAgentRunsOnAHostThatDoesNotBoot reads the unit with the systemd of this machine, if it has one.
func TestTheAgentRunsOnAHostThatDoesNotBoot(t *testing.T) {
	m, _ := fresh(t)
	must(t, m.install(t.Context(), server, "token"))
	text := m.text(t, unitFile)
	for _, want := range []string{"DefaultDependencies=no\n", "Conflicts=shutdown.target\n", "WantedBy=multi-user.target emergency.target rescue.target\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("expected the agent to start also in emergency mode (%q), got %s", want, text)
		}
	}
	if strings.Contains(text, "network") {
		t.Errorf("expected the agent not to wait for the network, got %s", text)
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("this machine has no systemd-analyze")
	}
	file := filepath.Join(t.TempDir(), "opcrew-machine.service")
	text = strings.ReplaceAll(text, usual+"/"+binary, "/bin/true")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--recursive-errors=no", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("expected systemd to accept the unit, got %v: %s", err, out)
	}
}

func TestAReadOnlyUsrIsNotNeeded(t *testing.T) {
	m, before := fresh(t)
	m.disk.Fix("/usr/local/lib")
	must(t, m.install(t.Context(), server, "token"))
	if text := m.text(t, unitFile); !strings.Contains(text, "ExecStart=/var/lib/opcrew/bin/opcrew-machine run\n") {
		t.Errorf("expected the program below /var, got %s", text)
	}
	must(t, m.uninstall(t.Context(), false))
	if diff := cmp.Diff(before, m.tree(t)); diff != "" {
		t.Errorf("expected nothing to be left: %s", diff)
	}
}

func TestALinkInPlaceOfADirectoryIsNotFollowed(t *testing.T) {
	m, _ := fresh(t)
	must(t, m.fs.Remove("/usr/local/lib"))
	must(t, m.fs.WriteLink("/usr/local/lib", hostfs.Entry{Type: hostfs.Link, Target: "/home/user"}))
	must(t, m.install(t.Context(), server, "token"))
	if found := m.tree(t)["/var/lib/opcrew/bin/opcrew-machine"]; found.Type != hostfs.File {
		t.Errorf("expected the program below /var, got %+v", found)
	}
}

func TestARemovalRestoresTheHostFirst(t *testing.T) {
	m, before := fresh(t)
	must(t, m.install(t.Context(), server, "token"))
	key := ledger.Key{Kind: ledger.Sysctl, Name: "net/ipv4/ip_forward"}
	must(t, ledger.NewStore(m.fs, hostconfig.StateDirectory).Save(ledger.Ledger{Records: map[ledger.Key]ledger.Record{key: {Key: key}}}))
	m.calls = nil
	must(t, m.uninstall(t.Context(), true))
	stop := slices.IndexFunc(m.calls, func(c string) bool { return strings.HasSuffix(c, "disable --now opcrew-machine.service") })
	if restore := slices.Index(m.calls, "restore"); stop < 0 || restore < stop {
		t.Errorf("expected the agent to be stopped and then the host to be restored, got %v", m.calls)
	}
	if diff := cmp.Diff(before, m.tree(t)); diff != "" {
		t.Errorf("expected nothing to be left: %s", diff)
	}
	must(t, m.uninstall(t.Context(), true))
}

func TestAFailedRestorationKeepsEverything(t *testing.T) {
	m, _ := fresh(t)
	must(t, m.install(t.Context(), server, "token"))
	must(t, m.fs.WriteFile(hostconfig.StateDirectory+"/ledger", []byte("damaged"), hostfs.Entry{Mode: 0o600}))
	before := m.tree(t)
	if err := m.uninstall(t.Context(), true); err == nil || !strings.Contains(err.Error(), "could not be restored") {
		t.Errorf("expected the damage to be reported, got %v", err)
	}
	if diff := cmp.Diff(before, m.tree(t)); diff != "" {
		t.Errorf("expected the files to stay: %s", diff)
	}
}

func TestWhatCouldNotBeRestoredStays(t *testing.T) {
	m, _ := fresh(t)
	must(t, m.install(t.Context(), server, "token"))
	text := []byte("original")
	key := ledger.Key{Kind: ledger.Path, Name: "/etc/motd"}
	before := ledger.State{Entry: hostfs.Entry{Type: hostfs.File, Mode: 0o644, Hash: hostfs.Hash(text)}}
	l := ledger.Ledger{Records: map[ledger.Key]ledger.Record{key: {Key: key, Before: before, Undeclared: true}}}
	must(t, m.store().Keep(text))
	must(t, m.store().Save(l))
	run := m.run
	m.run = func(ctx context.Context, self bool, args ...string) error {
		if self { // someone has changed the file, so it is not restored
			return m.store().Save(l)
		}
		return run(ctx, self, args...)
	}
	for range 2 {
		must(t, m.uninstall(t.Context(), true))
		tree := m.tree(t)
		if content, err := m.store().Original(before.Hash); err != nil || string(content) != "original" {
			t.Errorf("expected the original to stay available, got %q and %v", content, err)
		}
		if tree[unitFile].Type != "" || tree[usual].Type != "" || tree[hostconfig.StateDirectory+"/credentials"].Type != "" {
			t.Error("expected everything else of the agent to be removed")
		}
	}
	m.run = run
	must(t, m.uninstall(t.Context(), true))
	if tree := m.tree(t); tree[hostconfig.StateDirectory].Type != "" {
		t.Error("expected the directory to be removed after a complete restoration")
	}
}

func TestAKillAtAnyStepCanBeRepeated(t *testing.T) {
	for name, act := range map[string]func(m *machine) error{
		"install":   func(m *machine) error { return m.install(t.Context(), server, "token-2") },
		"uninstall": func(m *machine) error { return m.uninstall(t.Context(), true) },
	} {
		var want map[string]hostfs.Entry
		for crash := -1; ; crash++ {
			m, _ := fresh(t)
			must(t, m.install(t.Context(), server, "token-1"))
			m.program = func() ([]byte, error) { return []byte("program 2"), nil }
			if crash < 0 {
				must(t, act(m))
				want = m.tree(t)
				continue
			}
			m.disk.Crash(crash)
			err := act(m)
			complete := m.disk.Calls() <= crash
			if !complete && !errors.Is(err, disktest.ErrCrashed) {
				t.Fatalf("%s: crash at %d: expected the crash to be reported, got %v", name, crash, err)
			}
			m.disk.Restart()
			must(t, act(m))
			if diff := cmp.Diff(want, m.tree(t)); diff != "" {
				t.Fatalf("%s: crash at %d: expected the same as without: %s", name, crash, diff)
			}
			if complete {
				break
			}
		}
	}
}

func TestTheCommandLineIsChecked(t *testing.T) {
	t.Setenv("NODE_NAME", "node-a")
	for args, want := range map[string]string{"": "--server must begin with https://", "--server http://a": "--server must", "--server https://a --node=": "--node must be set", "--server https://a": ""} {
		o, err := ParseInstall(strings.Fields(args), io.Discard)
		if want == "" && (err != nil || o.Node != "node-a" || o.Root != "/host") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: expected %q, got %v, %+v", args, want, err, o)
		}
	}
	if o, err := ParseUninstall([]string{"--restore"}, io.Discard); err != nil || !o.Restore {
		t.Errorf("expected the restoration to be requested, got %+v and %v", o, err)
	}
}

func TestAnAgentGetsOnlyTheCertificatesOfTheOperator(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	must(t, os.WriteFile(file, []byte("new"), 0o600))
	for fingerprint, ok := range map[string]bool{"": true, machineorder.Fingerprint([]byte("new")): true, machineorder.Fingerprint([]byte("old")): false} {
		got, err := Options{CA: file, Fingerprint: fingerprint}.server()
		if ok != (err == nil) || ok && got.CA != "new" || !ok && !strings.Contains(err.Error(), "another attempt") {
			t.Errorf("%q: expected success to be %t, got %+v and %v", fingerprint, ok, got, err)
		}
	}
}
