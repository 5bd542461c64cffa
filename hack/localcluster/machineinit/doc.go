// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machineinit implements the init, the first process of a machine. The init enters the machine's namespaces,
// sets up a root file system, a host name and /proc, starts services, restarts them when they end, and reaps orphans.
// When the init is killed, the kernel ends the whole machine.
//
// The init does not decide which services run. Package machine writes the services' files, and the init reads them.
package machineinit
