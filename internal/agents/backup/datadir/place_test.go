// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func member() backup.Restore {
	url := "http://127.0.0.1:2380"
	return backup.Restore{Name: "a", InitialCluster: "a=" + url, Token: "t", PeerURLs: []string{url}}
}

// made creates a new data directory in the work directory, which is next to the final path (the place).
func made(t *testing.T, p Place) {
	t.Helper()
	must(t, p.Begin())
	must(t, os.WriteFile(p.Snapshot(), []byte("x"), 0o600))
	must(t, os.MkdirAll(filepath.Join(p.Made(), "member", "snap"), 0o700))
	must(t, os.WriteFile(filepath.Join(p.Made(), "member", "snap", "db"), []byte("x"), 0o600))
}

func TestADataDirectoryAppearsAtomically(t *testing.T) {
	for _, emptyBefore := range []bool{false, true} {
		p := At(filepath.Join(t.TempDir(), "data"))
		if emptyBefore {
			must(t, os.Mkdir(p.dir, 0o700))
		}
		made(t, p)
		if m, err := p.Look("1", member()); m != nil || err != nil {
			t.Errorf("expected nothing in the place before the end, got %v, %v", m, err)
		}
		made(t, p) // the first call has left its work directory behind, as a crash would
		must(t, p.Finish(Marker{Order: "1", Restore: member(), Result: backup.Result{Object: "o"}}))
		if m, err := p.Look("1", member()); err != nil || m == nil || m.Result.Object != "o" {
			t.Errorf("got %+v, %v", m, err)
		}
		entries, err := os.ReadDir(filepath.Dir(p.dir))
		if err != nil || len(entries) != 1 {
			t.Errorf("expected nothing beside it, got %v, %v", entries, err)
		}
	}
}

func TestAnExistingDirectoryIsNeverReplaced(t *testing.T) {
	for name, content := range map[string]string{"lost+found": "", "member/snap/db": "x", markerFile: "{", "marker of another order": ""} {
		t.Run(name, func(t *testing.T) {
			p := At(filepath.Join(t.TempDir(), "data"))
			if name == "marker of another order" {
				made(t, p)
				must(t, p.Finish(Marker{Order: "2", Restore: member()}))
			} else {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o700))
				must(t, os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600))
			}
			if m, err := p.Look("1", member()); m != nil || backup.ReasonOf(err, "") != backup.ReasonDataDirInUse {
				t.Errorf("got %+v, %v", m, err)
			}
			made(t, p)
			if err := p.Finish(Marker{Order: "1"}); backup.ReasonOf(err, "") != backup.ReasonVolumeFailed {
				t.Errorf("expected the rename to be refused, got %v", err)
			}
		})
	}
}

func TestAFullVolumeIsNotReportedAsABadSnapshot(t *testing.T) {
	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).Run(); err != nil {
		t.Skip("needs to mount a small volume:", err)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	from := filepath.Join(t.TempDir(), "snapshot.db")
	must(t, os.WriteFile(from, make([]byte, 4<<20+32), 0o600))
	r := member()
	if _, err := Run(t.Context(), Job{Snapshot: from, Dir: filepath.Join(dir, "data"), Restore: &r}); backup.ReasonOf(err, "") != backup.ReasonDiskFull {
		t.Errorf("got %v", err)
	}
}

func TestTheLineWithThePanicIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "one\ntwo\n\n": "two", "more\npanic: it is so\n\ngoroutine 1\n": "panic: it is so", "fatal error: fault\n[signal]\n": "fatal error: fault",
	} {
		if got := cause(text); got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
