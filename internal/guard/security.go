// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

// Security names the security profile that a pod must follow once it has all settings of the user and of opcrew.
// Package podsecurity defines the profiles.
type Security string

const (
	// Restricted is the restricted Pod Security Standard. It is the default for pods of all children.
	Restricted Security = ""
	// Baseline is the baseline Pod Security Standard. It is for images of users, which may start as root.
	Baseline Security = "baseline"
	// SSHServer is the restricted standard with exemptions for an sshd that runs as root.
	SSHServer Security = "ssh server"
	// HostCommand is the restricted standard with exemptions for a command that runs on the host.
	HostCommand Security = "host command"
	// NodeAgent is the restricted standard with exemptions for an agent that changes the network settings of its node.
	NodeAgent Security = "node agent"
)
