// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ufw keeps the rules of opcrew in ufw, with its command. opcrew recognizes its rules by their comment. ufw has no
// two rules for the same packets: an allow would replace a deny of the administrator, or take over an allow. So opcrew
// adds no rule for packets about which the administrator has one. ufw lists its files, and not the kernel: doubt.go.
package ufw
