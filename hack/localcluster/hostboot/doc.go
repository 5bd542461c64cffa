// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostboot boots the operating system of a node, whose files package hostos has put on the node's disk. The
// caller is the init of the node's machine, which acts as the node's firmware:
//
//   - Run (run.go) boots the operating system, and boots it again when the operating system calls reboot(2).
//   - start.go starts one boot in new namespaces, and connects it to the cluster's network.
//   - become.go runs in these namespaces: it mounts the root (root.go), /proc and /sys (kernel.go) and /dev
//     (devices.go), gives up capabilities (capabilities.go), and becomes systemd.
//
// A boot gets new network, cgroup, IPC and pid namespaces. So a reboot resets everything except the disk: processes,
// mounts, links, firewall rules, and the sysctls below net.
//
// What is simulated: the kernel is the one of this machine. All its sysctls outside of net are read-only. The boot ID
// is random, and /proc/cmdline contains what the node's simulated boot loader wrote (package hostos).
package hostboot
