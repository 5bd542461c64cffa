// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package service builds the machine agent for the host on which the process runs: Run for its systemd unit, and
// Restore for the removal. Only one process at a time works on a host.
package service
