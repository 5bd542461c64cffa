// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package selinux finds out whether a host has SELinux enabled, and lets restorecon set the labels that the policy of
// the host has for paths. It knows no policy, and does not decide which paths need a label.
package selinux
