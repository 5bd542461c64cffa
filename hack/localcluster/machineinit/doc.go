// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machineinit is the first process of a machine. It enters the machine's namespaces, sets up a root file
// system, a host name and /proc, starts services, restarts them when they end, and reaps orphans. When it is killed,
// the kernel ends the whole machine.
//
// It does not decide which services run: package machine writes their files.
package machineinit
