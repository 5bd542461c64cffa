// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package bootargs

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestForeignArgumentsStay(t *testing.T) {
	for _, test := range []struct {
		line, want  string
		add, remove []string
	}{
		{"", "a=1", []string{"a=1"}, nil},
		{"root=x  ro quiet", "root=x  ro quiet", []string{"ro"}, []string{"splash"}},
		{"root=x ro quiet", "root=x ro a=1", []string{"a=1", "ro"}, []string{"quiet"}},
		{`dyndbg="file x +p" quiet`, `dyndbg="file x +p" a=1`, []string{"a=1"}, []string{"quiet", "x"}},
		{"a=1 a=2", "a=1 a=2 a=3", []string{"a=3"}, nil},
		{"quiet quiet", "", nil, []string{"quiet"}},
	} {
		got := Edit(test.line, test.add, test.remove)
		if got != test.want || len(Missing(got, test.add, test.remove)) > 0 {
			t.Errorf("%q: expected %q, got %q", test.line, test.want, got)
		}
	}
	if got := Missing("quiet", []string{"a"}, []string{"quiet"}); !slices.Equal(got, []string{"a is missing", "quiet must be removed"}) {
		t.Errorf("expected both to be named, got %v", got)
	}
}

func TestGrubGetsTheArgumentsFromAShellScript(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Plan(Host{Loader: Grub}, []string{"a=1", "b=[x]*"}, []string{"quiet", "splash"})
	must(t, err)
	script := "set -e; cd /etc; GRUB_CMDLINE_LINUX='net=* quiet'; GRUB_CMDLINE_LINUX_DEFAULT='quiet x splash'\n" + plan[GrubFile] + `echo "$GRUB_CMDLINE_LINUX|$GRUB_CMDLINE_LINUX_DEFAULT"`
	out, err := exec.Command(shell, "-c", script).CombinedOutput()
	if got := string(out); err != nil || strings.Join(strings.Fields(got), " ") != "net=* a=1 b=[x]*|x" {
		t.Errorf("expected the other arguments and opcrew's, got %q and %v", got, err)
	}
}

func TestAnEntryOfSystemdBootKeepsItsOtherLines(t *testing.T) {
	const entry = "title Debian\noptions  root=x quiet \nlinux /vmlinuz\n"
	line, err := Line("/efi/loader/entries/a.conf", entry)
	if err != nil || line != "root=x quiet" {
		t.Fatalf("expected the command line, got %q and %v", line, err)
	}
	changed := SetLine("a", entry, "root=x a=1")
	if changed != "title Debian\noptions  root=x a=1 \nlinux /vmlinuz\n" || SetLine("a", changed, line) != entry {
		t.Errorf("expected only the command line to change, got %q", changed)
	}
	if got := SetLine("a", "title x", "a"); got != "title x\noptions a\n" {
		t.Errorf("expected a new line, got %q", got)
	}
	if got := SetLine(CommandLineFile, "root=x\n", "root=x a"); got != "root=x a\n" || SetLine(CommandLineFile, got, "root=x") != "root=x\n" {
		t.Errorf("expected the line break to stay, got %q", got)
	}
	if _, err := Line("x.conf", "options a\noptions b\n"); err == nil || !strings.Contains(err.Error(), "join them") {
		t.Errorf("expected several lines to be refused, got %v", err)
	}
}

func TestTheBootLoaderIsDetected(t *testing.T) {
	fs := hostfs.New(disktest.New())
	write := func(p, content string) {
		must(t, fs.MakeAll(p[:strings.LastIndex(p, "/")]))
		must(t, fs.WriteFile(p, []byte(content), hostfs.Entry{Type: hostfs.File}))
	}
	host, err := Detect(fs)
	must(t, err)
	if _, err := Plan(host, []string{"a"}, nil); err == nil || !strings.Contains(err.Error(), "Activity") {
		t.Errorf("expected an unknown boot loader to be refused with another way, got %v", err)
	}
	if _, err := Plan(host, nil, nil); err != nil {
		t.Errorf("expected a configuration without arguments to need no boot loader, got %v", err)
	}
	write("/efi/loader/loader.conf", "")
	write("/efi/loader/entries/a.conf", "options x\n")
	write("/efi/loader/entries/README", "")
	write("/etc/kernel/cmdline", "x\n")
	host, err = Detect(fs)
	must(t, err)
	plan, err := Plan(host, []string{"a"}, []string{"x"})
	if diff := cmp.Diff(map[string]string{"/efi/loader/entries/a.conf": "a", "/etc/kernel/cmdline": "a"}, plan); diff != "" || err != nil {
		t.Errorf("expected all entries to change, got %v, %s", err, diff)
	}
	write("/etc/default/grub", "")
	write("/usr/sbin/update-grub", "")
	if host, err = Detect(fs); err != nil || host.Loader != Grub {
		t.Errorf("expected GRUB, got %+v and %v", host, err)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("title x\noptions a b\n", "c")
	f.Add("options options a", "a")
	f.Fuzz(func(t *testing.T, content, line string) {
		line = strings.Join(Split(line), " ")
		old, err := Line("a", content)
		if err != nil || line == "" || old == "" || strings.ContainsAny(line, "\r\n") || strings.TrimSpace(line) != line {
			return
		}
		changed := SetLine("a", content, line)
		if got, err := Line("a", changed); got != line || err != nil {
			t.Fatalf("%q: expected the new line %q, got %q and %v", content, line, got, err)
		}
		if back := SetLine("a", changed, old); back != content {
			t.Errorf("expected %q, got %q", content, back)
		}
	})
}
