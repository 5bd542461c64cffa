// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineinit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// newRoot builds the node's root directory and changes into it. Each directory of this host's root appears as an
// overlay: the node reads the host's files and keeps its own changes, also after a crash. /var is not shared, and /run
// and /tmp are empty at every boot.
func newRoot(st *state.State, name string) error {
	root := filepath.Join(st.MachineDir(name), "root")
	if err := mkdirs(0o755, root); err != nil {
		return err
	}
	if err := unix.Mount(root, root, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind new root: %w", err)
	}
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := addTopLevel(st, name, root, e); err != nil {
			return fmt.Errorf("/%s of the node: %w", e.Name(), err)
		}
	}
	if err := fillVar(st, root); err != nil {
		return err
	}
	return pivot(root)
}

func addTopLevel(st *state.State, name, root string, e fs.DirEntry) error {
	source, target := "/"+e.Name(), filepath.Join(root, e.Name())
	if e.Type()&fs.ModeSymlink != 0 {
		return copyLink(source, target)
	}
	if !e.IsDir() {
		return nil
	}
	if err := mkdirs(0o755, target); err != nil {
		return err
	}
	switch e.Name() {
	case "dev", "sys":
		return unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, "")
	case "run":
		return unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755")
	case "tmp":
		return unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
	case "proc", "var":
		return nil
	}
	return overlay(source, target, filepath.Join(st.MachineDir(name), "overlay", e.Name()))
}

func copyLink(source, target string) error {
	to, err := os.Readlink(source)
	if err != nil {
		return err
	}
	if err := os.Symlink(to, target); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// overlay mounts lower, a directory of this host, at target, and keeps changes in dir. If lower cannot be a layer of an
// overlay, as on some network and FUSE file systems, target stays an empty directory.
func overlay(lower, target, dir string) error {
	upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	if err := mkdirs(0o755, upper, work); err != nil {
		return err
	}
	if info, err := os.Stat(lower); err == nil {
		if err := os.Chmod(upper, info.Mode()); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("index=on,lowerdir=%s,upperdir=%s,workdir=%s", lower, upper, work)
	if err := mountWhenFree(target, options); err != nil {
		fmt.Fprintf(os.Stderr, "the host's directory %s cannot be used as an overlay, so it is empty on this node: %v\n", lower, err)
	}
	return nil
}

// mountWhenFree mounts an overlay. It retries for some seconds, because the kernel keeps the mounts of a crashed node
// for some milliseconds after the node's last process has ended. Option index=on makes the kernel refuse a layer that
// is in use, instead of only warning.
func mountWhenFree(target, options string) error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		err := unix.Mount("overlay", target, "overlay", 0, options)
		if !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// fillVar creates the usual directories of /var. It also mounts the state directory at the same path as on this host,
// but without the mounts below it.
func fillVar(st *state.State, root string) error {
	v := filepath.Join(root, "var")
	inside := filepath.Join(root, st.Dir)
	if err := mkdirs(0o755, filepath.Join(v, "lib"), filepath.Join(v, "log"), filepath.Join(v, "cache"), inside); err != nil {
		return err
	}
	if err := mkdirs(0o777, filepath.Join(v, "tmp")); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(v, "tmp"), 0o777|os.ModeSticky); err != nil {
		return err
	}
	for link, to := range map[string]string{"run": "/run", "lock": "/run/lock"} {
		if err := os.Symlink(to, filepath.Join(v, link)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := unix.Mount(st.Dir, inside, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", st.Dir, err)
	}
	return nil
}

func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	// pivot_root mounts the old root over the new root, so the old root can be unmounted.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the old root: %w", err)
	}
	return os.Chdir("/")
}
