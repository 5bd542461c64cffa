// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package changes compares two configurations of a host: what is added, changed and removed, and which actions that
// requires (reload, restart, drain, reboot). A change has hashes of contents, and never contents, because the status of
// a pool shows changes to everyone who may read the pool.
//
// Actions follow the disruption policy as in OpenShift's Machine Config Operator: the longest path of the policy that
// contains a changed file applies, units match by their exact names, and what is not listed requires a reboot. Package
// changes merges repeated actions. Its defaults differ from OpenShift's where opcrew knows a lesser action that is
// enough: see defaultPolicy and unitDefault.
package changes
