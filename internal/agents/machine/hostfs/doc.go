// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostfs reads and changes entries (files, directories and links) below the root of a host. It resolves no
// link: a link on the way to an entry is an error, so a user of the host cannot redirect a change.
//
// A change is atomic: another process sees either the old or the new entry, with its final owner and mode. When a call
// returns without an error, the change is on disk. After a crash, Settle removes what is left of an interrupted change.
//
//   - Disk (disk.go) is what the package needs of a file system: single calls, most of which map to one system call.
//     Root (root.go, dir.go, names.go, handle.go) implements it with the kernel. Package disktest has a model of a disk
//     for tests, which loses what was not synced.
//   - FS (read.go, hash.go, write.go, change.go, preflight.go) is built on a Disk, and is what other packages use.
//
// The package does not know what a configuration is, and remembers nothing.
package hostfs
