// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hosttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
)

const wanted = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"

// write creates the unit files of the comparison below a directory.
func write(t *testing.T, root string) {
	t.Helper()
	vendor, local := filepath.Join(root, "usr/lib/systemd/system"), filepath.Join(root, unitDir)
	must(t, os.MkdirAll(vendor, 0o755))
	must(t, os.MkdirAll(filepath.Join(local, "multi-user.target.wants"), 0o755))
	for name, content := range map[string]string{
		"plain.service": wanted, "masked.service": wanted, "hidden.service": wanted, "on.service": wanted, "template@.service": wanted,
		"static.service": "[Service]\nExecStart=/bin/true\n", "also.service": "[Service]\nExecStart=/bin/true\n[Install]\nAlso=plain.service\n",
		"required.service": "[Service]\nExecStart=/bin/true\n[Install]\nRequiredBy=multi-user.target\n",
	} {
		must(t, os.WriteFile(filepath.Join(vendor, name), []byte(content), 0o600))
	}
	must(t, os.Symlink("plain.service", filepath.Join(vendor, "other.service")))
	for _, name := range []string{"masked.service", "hidden.service"} {
		must(t, os.Symlink("/dev/null", filepath.Join(local, name)))
	}
	for _, name := range []string{"hidden.service", "on.service"} { // enabled, and then one of them masked
		must(t, os.Symlink("/usr/lib/systemd/system/"+name, filepath.Join(local, "multi-user.target.wants", name)))
	}
}

// tell returns what a manager says about a unit, and which links there are after each call.
func tell(t *testing.T, root string, m units.Manager, unit string) (out []any) {
	t.Helper()
	look := func(err error) {
		word, _ := m.Enablement(t.Context(), unit)
		links, _ := filepath.Glob(filepath.Join(root, unitDir, "*.*s", "*"))
		for i := range links {
			links[i], _ = filepath.Rel(root, links[i])
		}
		out = append(out, word, err == nil, links)
	}
	look(nil)
	look(m.Enable(t.Context(), unit))
	look(m.Disable(t.Context(), unit))
	return out
}

// TestTheModelEnablesUnitsAsSystemctlDoes compares the model with the program, which needs no running systemd.
func TestTheModelEnablesUnitsAsSystemctlDoes(t *testing.T) {
	if _, err := exec.LookPath("systemctl"); err != nil {
		t.Skip("this machine has no systemctl")
	}
	real, model := t.TempDir(), t.TempDir()
	write(t, real)
	write(t, model)
	root, err := hostfs.OpenRoot(model)
	must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	m := Boot(t, root)
	for _, unit := range []string{
		"plain.service", "static.service", "also.service", "required.service", "masked.service", "hidden.service", "on.service",
		"other.service", "template@.service", "template@a.service", "missing.service",
	} {
		if diff := cmp.Diff(tell(t, real, units.Systemctl{Root: real}, unit), tell(t, model, m, unit)); diff != "" {
			t.Errorf("%s: expected the model to do what systemctl does: %s", unit, diff)
		}
	}
}
