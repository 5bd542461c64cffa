// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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

// onDisks runs a test on a real directory and on the model.
func onDisks(t *testing.T, test func(t *testing.T, fs *hostfs.FS)) {
	t.Run("real", func(t *testing.T) {
		fs, _ := real(t)
		test(t, fs)
	})
	t.Run("model", func(t *testing.T) { test(t, hostfs.New(disktest.New())) })
}

func real(t *testing.T) (*hostfs.FS, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := hostfs.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return hostfs.New(root), dir
}

func file(mode uint32, uid int) hostfs.Entry {
	return hostfs.Entry{Type: hostfs.File, Mode: mode, UID: uid, GID: uid}
}

func directory(mode uint32) hostfs.Entry { return hostfs.Entry{Type: hostfs.Directory, Mode: mode} }

func TestEveryTypeTakesThePlaceOfEveryOther(t *testing.T) {
	link := hostfs.Entry{Type: hostfs.Link, Target: "nowhere", UID: 3, GID: 4}
	writes := map[string]func(fs *hostfs.FS) error{
		"file":      func(fs *hostfs.FS) error { return fs.WriteFile("/x", []byte("new"), file(0o4751, 5)) },
		"directory": func(fs *hostfs.FS) error { return fs.MakeDirectory("/x", directory(0o1777)) },
		"link":      func(fs *hostfs.FS) error { return fs.WriteLink("/x", link) },
		"hard link": func(fs *hostfs.FS) error { return fs.WriteHardLink("/x", "/other") },
		"nothing":   func(fs *hostfs.FS) error { return fs.Remove("/x") },
	}
	want := map[string]hostfs.Entry{
		"file":      {Type: hostfs.File, Mode: 0o4751, UID: 5, GID: 5, Hash: hostfs.Hash([]byte("new"))},
		"directory": directory(0o1777),
		"link":      link,
		"hard link": {Type: hostfs.File, Mode: 0o600, Hash: hostfs.Hash(nil)},
		"nothing":   {Type: hostfs.Absent},
	}
	onDisks(t, func(t *testing.T, fs *hostfs.FS) {
		must(t, fs.WriteFile("/other", nil, file(0o600, 0)))
		for before, first := range writes {
			for after, second := range writes {
				must(t, first(fs))
				must(t, second(fs))
				if got, err := fs.Read("/x"); err != nil || !got.Same(want[after]) {
					t.Errorf("%s in place of %s: expected %+v, got %+v and %v", after, before, want[after], got, err)
				}
			}
		}
		must(t, fs.Remove("/x"))
		if names, err := fs.Names("/"); err != nil || strings.Join(names, " ") != "other" {
			t.Errorf("expected no temporary entry to be left, got %v and %v", names, err)
		}
	})
}

func TestADirectoryWithEntriesIsNotReplaced(t *testing.T) {
	onDisks(t, func(t *testing.T, fs *hostfs.FS) {
		must(t, fs.MakeAll("/a/b"))
		if err := fs.WriteFile("/a", nil, file(0o600, 0)); !hostfs.IsInUse(err) {
			t.Errorf("expected the directory to be kept, got %v", err)
		}
		if err := fs.Remove("/a"); !hostfs.IsInUse(err) {
			t.Errorf("expected the directory to be kept, got %v", err)
		}
		if names, err := fs.Names("/"); err != nil || strings.Join(names, " ") != "a" {
			t.Errorf("expected no temporary entry to be left, got %v and %v", names, err)
		}
	})
}

func TestAttributesChangeInPlace(t *testing.T) {
	onDisks(t, func(t *testing.T, fs *hostfs.FS) {
		must(t, fs.WriteFile("/x", []byte("text"), file(0o600, 0)))
		must(t, fs.Change("/x", file(0o6755, 7)))
		content, got, err := fs.ReadFile("/x", 4)
		if err != nil || string(content) != "text" || got.Mode != 0o6755 || got.UID != 7 {
			t.Errorf("expected the text with another mode and owner, got %q, %+v and %v", content, got, err)
		}
		if _, _, err := fs.ReadFile("/x", 3); err == nil {
			t.Error("expected a file above the limit to be refused")
		}
	})
}

func TestALinkOnTheWayIsRefusedAndExplained(t *testing.T) {
	onDisks(t, func(t *testing.T, fs *hostfs.FS) {
		must(t, fs.MakeAll("/usr/lib"))
		must(t, fs.WriteLink("/lib", hostfs.Entry{Type: hostfs.Link, Target: "usr/lib"}))
		must(t, fs.WriteLink("/usr/up", hostfs.Entry{Type: hostfs.Link, Target: "/lib"}))
		for path, want := range map[string]string{"/lib/a/x": "declare /usr/lib/a/x instead", "/lib/x": "declare /usr/lib/x instead", "/usr/up/x": "declare /lib/x instead"} {
			_, read := fs.Read(path)
			for _, err := range []error{read, fs.WriteFile(path, nil, file(0o600, 0)), fs.Remove(path), fs.Changeable(path), fs.Change(path, file(0, 0))} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: expected %q, got %v", path, want, err)
				}
			}
		}
		if names, err := fs.Names("/usr/lib"); err != nil || len(names) > 0 {
			t.Errorf("expected nothing to be written behind the link, got %v and %v", names, err)
		}
	})
}

func TestWhatAUserPlacesInADirectoryOfThemselvesIsNotGivenAway(t *testing.T) {
	fs, root := real(t)
	must(t, os.WriteFile(filepath.Join(root, "secret"), []byte("secret"), 0o600))
	must(t, os.Mkdir(filepath.Join(root, "home"), 0o755))
	must(t, os.Chown(filepath.Join(root, "home"), 1000, 1000))
	must(t, os.Link(filepath.Join(root, "secret"), filepath.Join(root, "home", "mine")))
	if err := fs.Change("/home/mine", file(0o666, 1000)); err == nil || !strings.Contains(err.Error(), "hard links") {
		t.Errorf("expected the second name of a file of root to be refused, got %v", err)
	}
	must(t, os.Mkdir(filepath.Join(root, "shared"), 0o700))
	must(t, os.Chmod(filepath.Join(root, "shared"), 0o775))
	must(t, os.Link(filepath.Join(root, "secret"), filepath.Join(root, "shared", "mine")))
	if err := fs.Change("/shared/mine", file(0o666, 1000)); err == nil || !strings.Contains(err.Error(), "hard links") {
		t.Errorf("expected the same in a directory of root to which a group can write, got %v", err)
	}
	must(t, os.Symlink("../secret", filepath.Join(root, "home", "link")))
	must(t, fs.WriteFile("/home/link", []byte("new"), file(0o600, 1000)))
	must(t, fs.WriteFile("/home/mine", []byte("new"), file(0o600, 1000)))
	if text, err := os.ReadFile(filepath.Join(root, "secret")); err != nil || string(text) != "secret" {
		t.Errorf("expected the file of root to be unchanged, got %q and %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(root, "secret")); err != nil || info.Mode() != 0o600 || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("expected the file to belong to root, got %v and %v", info, err)
	}
	must(t, syscall.Mkfifo(filepath.Join(root, "home", "pipe"), 0o600))
	if got, err := fs.Read("/home/pipe"); err != nil || got.Type != hostfs.Other {
		t.Errorf("expected a pipe to be seen without being opened, got %+v and %v", got, err)
	}
	if err := fs.Change("/home/pipe", file(0o600, 0)); err == nil {
		t.Error("expected a pipe not to be changed")
	}
}

func TestAnImmutableEntryIsFoundBeforeAChange(t *testing.T) {
	disk := disktest.New()
	fs := hostfs.New(disk)
	must(t, fs.MakeAll("/etc/fixed"))
	must(t, fs.WriteFile("/etc/file", nil, file(0o600, 0)))
	disk.Fix("/etc/fixed")
	disk.Fix("/etc/file")
	for path, want := range map[string]bool{"/etc/file": false, "/etc/fixed/new": false, "/etc/fixed/new/deep": false, "/etc/new": true, "/new/deep": true} {
		if err := fs.Changeable(path); (err == nil) != want {
			t.Errorf("%s: expected changeable to be %v, got %v", path, want, err)
		}
	}
	onDisk, _ := real(t)
	if err := onDisk.Changeable("/a/b/c"); err != nil {
		t.Errorf("expected a new path to be changeable, got %v", err)
	}
}

func TestSettleRemovesWhatACrashLeft(t *testing.T) {
	disk := disktest.New()
	fs := hostfs.New(disk)
	must(t, fs.WriteFile("/x", []byte("old"), file(0o600, 0)))
	before, err := disktest.Tree(fs, "/", "")
	must(t, err)
	disk.Crash(2)
	if err := fs.WriteFile("/x", []byte("new"), file(0o600, 0)); !errors.Is(err, disktest.ErrCrashed) {
		t.Fatalf("expected a crash, got %v", err)
	}
	disk.Restart()
	must(t, fs.Settle("/x"))
	must(t, fs.Settle("/missing/x"))
	after, err := disktest.Tree(fs, "/", "")
	must(t, err)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("expected only the old file: %s", diff)
	}
}

// TestAPowerLossLeavesTheOldOrTheNewEntry stops at every writing call of every kind of change, and loses every subset
// of what was not synced.
func TestAPowerLossLeavesTheOldOrTheNewEntry(t *testing.T) {
	for name, write := range map[string]func(fs *hostfs.FS) error{
		"file": func(fs *hostfs.FS) error { return fs.WriteFile("/x", []byte("new text"), file(0o640, 5)) },
		"link": func(fs *hostfs.FS) error {
			return fs.WriteLink("/x", hostfs.Entry{Type: hostfs.Link, Target: "y", UID: 5})
		},
		"hard link": func(fs *hostfs.FS) error { return fs.WriteHardLink("/x", "/other") },
		"removal":   func(fs *hostfs.FS) error { return fs.Remove("/x") },
	} {
		t.Run(name, func(t *testing.T) {
			old, states := file(0o600, 0), 0
			for crash := 0; ; crash++ {
				disk := disktest.New()
				fs := hostfs.New(disk)
				must(t, fs.WriteFile("/x", []byte("old text"), old))
				must(t, fs.WriteFile("/other", []byte("other"), old))
				disk.Crash(crash)
				err := write(fs)
				complete := disk.Calls() <= crash
				disk.PowerLosses(func(after *disktest.Disk) {
					states++
					got, readErr := hostfs.New(after).Read("/x")
					must(t, readErr)
					if !complete && got.Hash == hostfs.Hash([]byte("old text")) && got.Mode == 0o600 {
						return
					}
					if !got.Same(wanted(t, write)) {
						t.Errorf("crash at %d: expected the old or the new entry (complete: %v), got %+v", crash, complete, got)
					}
				})
				if complete {
					must(t, err)
					break
				}
			}
			if states < 4 {
				t.Errorf("expected many states, got %d", states)
			}
		})
	}
}

// wanted returns the entry that a change leads to without a crash.
func wanted(t *testing.T, write func(fs *hostfs.FS) error) hostfs.Entry {
	fs := hostfs.New(disktest.New())
	must(t, fs.WriteFile("/other", []byte("other"), file(0o600, 0)))
	must(t, write(fs))
	got, err := fs.Read("/x")
	must(t, err)
	return got
}

func TestAReplacedFileKeepsItsLabel(t *testing.T) {
	fs := hostfs.New(disktest.New())
	labelled := file(0o600, 0)
	labelled.Label = "system_u:object_r:etc_t:s0"
	must(t, fs.WriteFile("/x", []byte("old"), labelled))
	must(t, fs.WriteFile("/x", []byte("new"), file(0o600, 0)))
	if got, err := fs.Read("/x"); err != nil || got.Label != labelled.Label {
		t.Errorf("expected the label of the old file, got %+v and %v", got, err)
	}
}

// TestALinkThatAppearsDuringAWriteRedirectsNothing lets a user swap a directory for a link, while root writes below it.
func TestALinkThatAppearsDuringAWriteRedirectsNothing(t *testing.T) {
	fs, root := real(t)
	for _, dir := range []string{"secret", "home", "home/ssh"} {
		must(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	must(t, os.Symlink("../secret", filepath.Join(root, "home/link")))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		at := func(name string) string { return filepath.Join(root, "home", name) }
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Rename(at("ssh"), at("aside"))
				_ = os.Rename(at("link"), at("ssh"))
				_ = os.Rename(at("ssh"), at("link"))
				_ = os.Rename(at("aside"), at("ssh"))
				time.Sleep(50 * time.Microsecond)
			}
		}
	}()
	refused := 0
	for range 2000 {
		if err := fs.WriteFile("/home/ssh/keys", []byte("x"), file(0o600, 0)); err != nil {
			refused++
		}
	}
	close(stop)
	<-done
	if names, err := os.ReadDir(filepath.Join(root, "secret")); err != nil || len(names) > 0 {
		t.Errorf("expected nothing behind the link, got %v and %v", names, err)
	}
	t.Logf("%d of 2000 writes were refused", refused)
}
