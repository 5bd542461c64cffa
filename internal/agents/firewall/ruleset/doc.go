// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ruleset merges the firewall rules of all pools of a node into the rules of one table. It is pure: package
// kernel writes the table.
package ruleset
