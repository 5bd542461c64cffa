// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mountDevices mounts a new /dev with the devices that every program expects. terminal is the path of the console. The
// kernel log is the one of this machine, because the kubelet does not start without it.
func mountDevices(root, terminal string) error {
	dev := filepath.Join(root, "dev")
	if err := unix.Mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID, "mode=755"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty", "kmsg", "fuse"} {
		if err := copyDevice(filepath.Join("/dev", name), filepath.Join(dev, name)); err != nil {
			return fmt.Errorf("create /dev/%s: %w", name, err)
		}
	}
	for _, name := range []string{"pts", "shm"} {
		if err := os.Mkdir(filepath.Join(dev, name), 0o755); err != nil {
			return err
		}
	}
	const safe = unix.MS_NOSUID | unix.MS_NOEXEC
	if err := unix.Mount("devpts", filepath.Join(dev, "pts"), "devpts", safe, "newinstance,gid=5,mode=620,ptmxmode=666"); err != nil {
		return fmt.Errorf("mount /dev/pts: %w", err)
	}
	if err := unix.Mount("tmpfs", filepath.Join(dev, "shm"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
		return fmt.Errorf("mount /dev/shm: %w", err)
	}
	if err := linkDevices(dev); err != nil {
		return err
	}
	return bindFile(terminal, filepath.Join(dev, "console"))
}

func linkDevices(dev string) error {
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"ptmx": "pts/ptmx", "core": "/proc/kcore",
	} {
		if err := os.Symlink(to, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyDevice creates a device like the one at source. This machine may lack a device that few programs use.
func copyDevice(source, target string) error {
	var info unix.Stat_t
	if err := unix.Stat(source, &info); err != nil {
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	if err := unix.Mknod(target, info.Mode, int(info.Rdev)); err != nil {
		return err
	}
	return os.Chmod(target, os.FileMode(info.Mode&0o777))
}

func bindFile(source, target string) error {
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		return err
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", target, err)
	}
	return nil
}
