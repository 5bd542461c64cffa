// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostos

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/hack/localcluster/image"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// installExample installs a system that consists of one folder.
func installExample(t *testing.T) string {
	t.Helper()
	tree, tarFile, root := t.TempDir(), filepath.Join(t.TempDir(), "tree.tar"), filepath.Join(t.TempDir(), "root")
	for _, dir := range []string{"etc/systemd/system", "dev"} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tree, "dev/null"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "--create", "--file", tarFile, "--directory", tree, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := Install(t.Context(), tarFile, root); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestASystemHasNoDevicesAndNoLoginOnAScreen(t *testing.T) {
	root := installExample(t)
	if left, _ := filepath.Glob(filepath.Join(root, "dev/*")); len(left) > 0 {
		t.Errorf("got devices on the disk: %v", left)
	}
	if got, _ := os.Readlink(filepath.Join(root, "etc/systemd/system/console-getty.service")); got != "/dev/null" {
		t.Errorf("expected a masked unit, got a link to %q", got)
	}
}

func TestUpdateGrubWritesTheArgumentsOfAllSettings(t *testing.T) {
	root := installExample(t)
	add := `GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX hugepages=3"`
	if err := state.WriteFile(filepath.Join(root, "etc/default/grub.d/50-test.cfg"), []byte(add), 0o644); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, "usr/sbin/update-grub"))
	if err != nil {
		t.Fatal(err)
	}
	// The program works on the root of a node, so let it work below root.
	moved := strings.NewReplacer("/etc/default", root+"/etc/default", "> /boot/", "> "+root+"/boot/", "mv /boot/", "mv "+root+"/boot/",
		" /boot/cmdline.simulated\n", " "+root+"/boot/cmdline.simulated\n", "cat /boot", "cat "+root+"/boot").Replace(string(script))
	if out, err := exec.Command("/bin/sh", "-c", moved).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(root, CommandLineFile))
	if want := "BOOT_IMAGE=/boot/vmlinuz root=/dev/vda1 ro hugepages=3 quiet\n"; err != nil || string(got) != want {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
	if info, err := os.Stat(filepath.Join(root, "usr/sbin/update-grub")); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("update-grub cannot be executed: %v %v", info, err)
	}
}

func TestADamagedSystemIsNotInstalled(t *testing.T) {
	tarFile := filepath.Join(t.TempDir(), "tree.tar")
	if err := os.WriteFile(tarFile, []byte("no tar"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := Install(t.Context(), tarFile, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "remove "+tarFile) {
		t.Errorf("expected an error that names the file to remove, got %v", err)
	}
}

func TestAnotherReleaseOfDebianIsAnotherSystem(t *testing.T) {
	if key(image.Mirrors{Suite: "bookworm"}) == key(image.Mirrors{Suite: "trixie"}) {
		t.Error("both have the same key")
	}
}
