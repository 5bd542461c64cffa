// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostconfig defines the configuration of a host as the operator delivers it to the machine agent, the program
// on the host: files, directories, links, units, users and kernel arguments, completely resolved. The operator renders
// it from MachineConfigs; internal/agents/machine applies it. Both sides encode and parse with this package. The host
// reads a configuration from a Secret, so the parser is strict and limits sizes.
package hostconfig
