// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package firewall is the agent that keeps the firewall table of a node as the operator declares it. New rules are
// provisional: the agent confirms them when a new connection reaches the API server, and otherwise restores the previous
// ones. What it tries is on the disk of the host before it is in the kernel, so that a crash does not end a trial with
// rules that no one confirmed. After a boot, the confirmed rules are in force before the node has contact.
package firewall
