// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostos makes the operating system of nodes with systemd: the files of a small Debian system.
//
//   - Make (make.go) builds the system once from Debian packages (packages.go), and keeps it in a cache.
//   - Install (install.go) copies it to the disk of a node, and adds the files in the folder files.
//
// Package node adds what belongs to one node, such as its name and the kubelet's unit. Package hostboot boots it.
package hostos
