// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package units enables, disables, reloads and restarts systemd units of a host, and reads the [Install] sections of
// unit files. It does not write unit files, and does not decide which units a configuration needs.
package units
