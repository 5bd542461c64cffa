// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostos

// packages returns the Debian packages of a node's operating system, in addition to those that every Debian system has.
func packages() []string {
	return []string{
		"systemd", "systemd-sysv", "dbus", "libpam-systemd", "kmod", "passwd", "login", "openssh-server",
		"containerd", "runc", "containernetworking-plugins", "iproute2", "iptables", "nftables", "conntrack", "procps",
		"firewalld", "ufw", // for tests of firewalls of the host; hooks disables them
	}
}

// dpkgOptions leave out documentation, but not copyright files. The tree is written again if this machine crashes, so
// dpkg need not wait for the disk.
func dpkgOptions() []string {
	return []string{
		"path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*", "path-exclude=/usr/share/doc/*",
		"path-include=/usr/share/doc/*/copyright", "force-unsafe-io",
	}
}

// hooks are shell commands that complete the tree, whose path is $1. They add the user core, whom MachineConfigs name,
// disable firewalls, and remove what must differ between nodes.
func hooks() []string {
	return []string{
		`chroot "$1" useradd --create-home --shell /bin/bash core`,
		`chroot "$1" systemctl disable firewalld ufw`,
		`rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/machine-id "$1"/etc/hostname "$1"/etc/resolv.conf`,
		`rm -rf "$1"/var/log/journal "$1"/var/lib/dbus/machine-id`,
	}
}
