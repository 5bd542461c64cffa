// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package disktest has a model of a disk for tests. It behaves as a kernel does, and remembers which changes a power
// loss can lose: content and attributes until the entry is synced, and names until their directory is synced.
// Disk.Crash stops a process before any of its writing calls. Disk.PowerLosses calls a test with the disk in every state
// that a power loss permits. Only tests import the package.
package disktest
