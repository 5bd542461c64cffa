// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "strings"

// Keys of the Secret with which the operator logs in to hosts over SSH.
const (
	// SSHPrivateKey is the key with the private key of the user who logs in, as in Secrets of type kubernetes.io/ssh-auth.
	SSHPrivateKey = "ssh-privatekey"
	// SSHKnownHosts is the key with the host keys of the machines, in the format of ~/.ssh/known_hosts.
	SSHKnownHosts = "known_hosts"
)

// SSH is how to reach a host outside the cluster.
type SSH struct {
	// address is the name or IP address of the machine, and the port of its SSH server if it is not 22, such as
	// db1.example.com:2222.
	// +required
	Address SSHAddress `json:"address"`

	// secret is the name of a Secret in the Activity's namespace. Its key ssh-privatekey has the private key of
	// execuser. Its key known_hosts has the host key of the machine; without it, the command does not run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Secret string `json:"secret"`
}

// SSHHosts are hosts outside the cluster.
type SSHHosts struct {
	// secret is the name of a Secret in the Activity's namespace. Its key ssh-privatekey has the private key of
	// execuser. Its key known_hosts has the host keys of the machines; on a machine without one, the command does not run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Secret string `json:"secret"`

	// hosts lists the machines, at most 500.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	Hosts []SSHHost `json:"hosts"`
}

// SSHHost is a host outside the cluster.
type SSHHost struct {
	// name of the machine in messages and results.
	// +required
	Name HostName `json:"name"`

	// address is the name or IP address of the machine, and the port of its SSH server if it is not 22, such as
	// db1.example.com:2222.
	// +required
	Address SSHAddress `json:"address"`
}

// SSHAddress is the name or IP address of an SSH server, with its port if that is not 22. The right to run commands
// there is a right to the name or IP address without the port.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=261
// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*|\\\\[[0-9a-f:.]+\\\\])(:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))?$')",message="address must be a name in lower case or an IP address, with a port if it is not 22, such as db1.example.com:2222 or [fd00::1]:22"
type SSHAddress string

// Host returns the address without its port and brackets.
func (a SSHAddress) Host() string {
	text := string(a)
	if rest, ok := strings.CutPrefix(text, "["); ok {
		host, _, _ := strings.Cut(rest, "]")
		return host
	}
	host, _, _ := strings.Cut(text, ":")
	return host
}

// Port returns the port of the address; 22 by default.
func (a SSHAddress) Port() string {
	text := string(a)
	if _, rest, ok := strings.Cut(text, "]"); ok {
		text = rest
	}
	if _, port, ok := strings.Cut(text, ":"); ok {
		return port
	}
	return "22"
}
