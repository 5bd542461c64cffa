// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

// Security names the rules that the finished pod of a child must follow. Package podsecurity has the rules.
type Security string

const (
	// Restricted is the Pod Security Standard of that name. It applies to every child that names nothing else.
	Restricted Security = ""
	// Baseline is the Pod Security Standard of that name, for the images of users, which may start as root.
	Baseline Security = "baseline"
	// SSHServer is restricted, but for what an sshd of root needs.
	SSHServer Security = "ssh server"
	// HostCommand is restricted, but for what a command on a host needs.
	HostCommand Security = "host command"
)
