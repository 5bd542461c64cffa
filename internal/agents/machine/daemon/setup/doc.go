// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package setup installs the machine agent on the host of a privileged pod with hostPID, and removes it. The root of
// the host is mounted in the pod. systemctl runs in the namespaces of the host (package hostns).
//
// Both can be repeated after a crash at any point. The removal first restores the host if that is requested, and leaves
// no unit, binary or directory of the agent.
package setup
