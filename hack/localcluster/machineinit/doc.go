// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machineinit is what runs inside of a machine as its first process:
// it enters the machine's namespaces, gives it a root file system, a host name
// and a /proc of its own, and then starts services, starts them again when they
// end, and reaps orphans. When it is killed the kernel ends all of the machine.
//
// It decides nothing about what runs: services are files that package machine
// writes.
package machineinit
