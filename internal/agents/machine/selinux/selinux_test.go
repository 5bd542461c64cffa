// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package selinux

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheHostSaysWhetherLabelsAreUsed(t *testing.T) {
	fs := hostfs.New(disktest.New())
	expect := func(want Host) {
		t.Helper()
		if got, err := Detect(fs); err != nil || got != want {
			t.Errorf("expected %+v, got %+v and %v", want, got, err)
		}
	}
	file := hostfs.Entry{Type: hostfs.File, Mode: 0o755}
	must(t, fs.MakeAll("/usr/sbin"))
	must(t, fs.WriteLink("/usr/sbin/restorecon", hostfs.Entry{Type: hostfs.Link, Target: "setfiles"}))
	expect(Host{})
	must(t, fs.MakeAll("/sys/fs/selinux"))
	must(t, fs.WriteFile(EnforceFile, []byte("0"), file))
	expect(Host{Enabled: true, Program: "/usr/sbin/restorecon"})
	must(t, fs.Remove("/usr/sbin/restorecon"))
	must(t, fs.WriteLink("/sbin", hostfs.Entry{Type: hostfs.Link, Target: "usr/sbin"}))
	expect(Host{Enabled: true})
	must(t, fs.MakeAll("/bin"))
	must(t, fs.WriteFile("/bin/restorecon", nil, file))
	expect(Host{Enabled: true, Program: "/bin/restorecon"})
}

// script returns a program that appends its arguments to a file, one call in each line.
func script(t *testing.T, end string) (program, calls string) {
	t.Helper()
	dir := t.TempDir()
	program, calls = filepath.Join(dir, "restorecon"), filepath.Join(dir, "calls")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s ' \"$@\" >> "+calls+"\necho >> "+calls+"\n"+end), 0o700))
	return program, calls
}

func TestManyPathsAreLabelledInFewCalls(t *testing.T) {
	program, calls := script(t, "")
	var paths []string
	for i := range mostPaths + 1 {
		paths = append(paths, fmt.Sprint("/etc/file-", i))
	}
	must(t, Restore(t.Context(), program, paths))
	text, err := os.ReadFile(calls)
	must(t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "-i /etc/file-0 /etc/file-1 ") || lines[1] != fmt.Sprintf("-i /etc/file-%d ", mostPaths) {
		t.Errorf("expected two calls that are not recursive, got %q", lines)
	}
	if err := Restore(t.Context(), filepath.Join(t.TempDir(), "none"), nil); err != nil {
		t.Errorf("expected no call without paths, got %v", err)
	}
}

// restorecon expands patterns with glob(3). Without escapes, it would label other files.
func TestAPathIsNoPattern(t *testing.T) {
	program, calls := script(t, "")
	must(t, Restore(t.Context(), program, []string{`/etc/*`, `/etc/a[1]?{b,c}\d`}))
	text, err := os.ReadFile(calls)
	must(t, err)
	if want := `-i /etc/\* /etc/a\[1\]\?\{b,c\}\\d ` + "\n"; string(text) != want {
		t.Errorf("expected %q, got %q", want, text)
	}
}

func TestAFailureNamesWhatTheProgramSaid(t *testing.T) {
	program, _ := script(t, "echo 'Could not set context for /etc/a' >&2\nexit 255\n")
	if err := Restore(t.Context(), program, []string{"/etc/a"}); err == nil || !strings.Contains(err.Error(), "Could not set context for /etc/a") {
		t.Errorf("expected the error of the program, got %v", err)
	}
}

func TestAMessageNamesOnlySomePaths(t *testing.T) {
	for want, paths := range map[string][]string{
		"run restorecon for /a, /b":                       {"/a", "/b"},
		"run restorecon for /a, /b, /c and 2 other paths": {"/a", "/b", "/c", "/d", "/e"},
	} {
		if got := Missing(paths); !strings.HasSuffix(got, want) {
			t.Errorf("expected a message that ends with %q, got %q", want, got)
		}
	}
}
