// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestTheCopyIsThisProgramAndAllUsersMayExecuteIt(t *testing.T) {
	to := filepath.Join(t.TempDir(), "opcrew-agent")
	must(t, Run(Options{To: to}))
	self, err := os.Executable()
	must(t, err)
	if !bytes.Equal(read(t, self), read(t, to)) {
		t.Error("expected a copy of this program")
	}
	if info := stat(t, to); info.Mode() != mode {
		t.Errorf("the mode is %s", info.Mode())
	}
}

func TestOnlyAnotherFileIsReplaced(t *testing.T) {
	content := strings.Repeat("program ", chunkSize/5) // longer than one chunk
	for _, test := range []struct {
		name, there string
		mode        fs.FileMode
		kept        bool
	}{
		{"the same", content, 0o755, true},
		{"not executable", content, 0o644, false},
		{"shorter", content[:chunkSize], 0o755, false},
		{"longer", content + "x", 0o755, false},
		{"different", strings.ToUpper(content), 0o755, false},
		{"empty", "", 0o755, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
			must(t, os.WriteFile(from, []byte(content), 0o600))
			must(t, os.WriteFile(to, []byte(test.there), test.mode))
			before := stat(t, to)
			must(t, put(from, to))
			if kept := os.SameFile(before, stat(t, to)); kept != test.kept {
				t.Errorf("kept: %v, expected %v", kept, test.kept)
			}
			if string(read(t, to)) != content || stat(t, to).Mode() != mode {
				t.Errorf("%d bytes with mode %s, expected a whole copy", len(read(t, to)), stat(t, to).Mode())
			}
		})
	}
}

func TestASymlinkIsReplacedNotFollowed(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	must(t, os.WriteFile(from, []byte("program"), 0o755))
	must(t, os.Symlink(from, to))
	must(t, put(from, to))
	if info := stat(t, to); !info.Mode().IsRegular() {
		t.Errorf("the mode is %s", info.Mode())
	}
}

func TestAProgramThatRunsIsReplaced(t *testing.T) {
	to := filepath.Join(t.TempDir(), "to")
	must(t, os.WriteFile(to, []byte("old"), 0o755))
	running, err := os.Open(to)
	must(t, err)
	defer running.Close()
	must(t, Run(Options{To: to}))
	if text, err := io.ReadAll(running); err != nil || string(text) != "old" {
		t.Errorf("expected an open file to keep its content, got %q, %v", text, err)
	}
}

func TestAnUnreadableFileIsReplaced(t *testing.T) {
	if equal(strings.NewReader("a"), io.MultiReader(strings.NewReader("a"), iotest.ErrReader(io.ErrClosedPipe))) {
		t.Error("expected a truncated file to be replaced")
	}
}

func TestAMissingDirectoryIsAnError(t *testing.T) {
	err := Run(Options{To: filepath.Join(t.TempDir(), "none", "agent")})
	if err == nil || !strings.Contains(err.Error(), "copy this program to ") {
		t.Errorf("the error is %v", err)
	}
}

func TestTheFlagToIsNeeded(t *testing.T) {
	for args, want := range map[string]string{"": "--to must be", "--to agent": "absolute", "--to /a more": `"more" is not a flag`} {
		if _, err := ParseFlags(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, expected %q", args, err, want)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return text
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return info
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
