// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package units

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheInstallSectionIsComparedByItsMeaning(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"none", "[Service]\nExecStart=/bin/true\n", ""},
		{"one", "[Install]\nWantedBy=multi-user.target\n", "WantedBy=multi-user.target"},
		{"spaces and comments", "[Install]\n# a\n WantedBy =  a.target   b.target\n;c\n", "WantedBy=a.target b.target"},
		{"another section behind", "[Install]\nAlias=x.service\n[Service]\nWantedBy=no\n", "Alias=x.service"},
		{"two sections", "[Install]\nAlias=x.service\n[Unit]\n[Install]\nAlso=y.service", "Alias=x.service\nAlso=y.service"},
		{"continued", "[Install]\nWantedBy=a.target \\\n# between\n  b.target\nAlias=c.service", "WantedBy=a.target b.target\nAlias=c.service"},
		{"empty continuation at the end", "[Install]\nWantedBy=\\", "WantedBy="},
	} {
		if got := Install(test.file); got != test.want {
			t.Errorf("%s: expected %q, got %q", test.name, test.want, got)
		}
	}
	if got := Install("[Install]\nWantedBy=a\n", "[Install]\nWantedBy=\nWantedBy=b\n"); got != "WantedBy=a\nWantedBy=\nWantedBy=b" {
		t.Errorf("expected drop-ins behind the unit file, got %q", got)
	}
}

func FuzzInstall(f *testing.F) {
	f.Add("[Install]\nWantedBy=a.target \\\n b.target\n")
	f.Fuzz(func(t *testing.T, file string) {
		once := Install(file)
		if once != "" && Install("[Install]\n"+once) == "" {
			t.Errorf("%q has settings, but their canonical form %q has none", file, once)
		}
	})
}

// TestSystemctlOfTheMachineKeepsTheTree needs the program, but no running systemd.
func TestSystemctlOfTheMachineKeepsTheTree(t *testing.T) {
	if _, err := exec.LookPath("systemctl"); err != nil {
		t.Skip("this machine has no systemctl")
	}
	root, ctx := t.TempDir(), context.Background()
	dir := filepath.Join(root, "etc/systemd/system")
	must(t, os.MkdirAll(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "x.service"), []byte("[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "s.service"), []byte("[Service]\nExecStart=/bin/true\n"), 0o600))
	must(t, os.Symlink("/dev/null", filepath.Join(dir, "m.service")))
	s := Systemctl{Root: root}
	expect := func(unit, want string) {
		t.Helper()
		if got, err := s.Enablement(ctx, unit); err != nil || got != want {
			t.Errorf("expected %s to be %s, got %q and %v", unit, want, got, err)
		}
	}
	expect("x.service", Disabled)
	expect("s.service", "static")
	expect("m.service", Masked)
	expect("missing.service", NotFound)
	must(t, s.Enable(ctx, "x.service"))
	expect("x.service", Enabled)
	must(t, s.Enable(ctx, "x.service"))
	must(t, s.Disable(ctx, "x.service"))
	must(t, s.Disable(ctx, "x.service"))
	expect("x.service", Disabled)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("expected no directory to be left, got %v and %v", entries, err)
	}
	if err := s.Enable(ctx, "missing.service"); err == nil {
		t.Error("expected an error for a unit that does not exist")
	}
}

func TestASystemdThatDoesNotAnswerIsNoMissingUnit(t *testing.T) {
	for message, want := range map[string]bool{
		"Failed to get unit file state for x.service: No such file or directory": true,
		"Failed to connect to bus: No such file or directory":                    false,
		"Failed to get unit file state for x.service: Connection timed out":      false,
	} {
		err := &callError{"is-enabled x.service", message, errors.New("exit status 1")}
		if got := isMissing(err, "x.service"); got != want {
			t.Errorf("%q: expected %v, got %v", message, want, got)
		}
	}
}
