// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import "time"

// Order describes a command to run on a host. NewOrder and ParseOrder set missing fields to their defaults.
type Order struct {
	// UID is the UID of the Activity. UID and Run form the name of the file on the host that records the start.
	UID string `json:"uid"`
	// Run is the number of the requested run, starting at 1.
	Run int64 `json:"run"`
	// Created is the creation time of the Activity, by the clock of the API server.
	Created time.Time `json:"created"`
	// ForgetBefore, if set, allows the host to delete markers (files that record started runs) of Activities that were
	// created before this time. No such Activity may still have a pod on the host, because without its marker, that pod
	// could run the command again.
	ForgetBefore time.Time `json:"forgetBefore,omitzero"`

	// BeginBefore is the deadline for the start, and BootID the boot of the host for which the operator created this
	// order. Both are optional. docs/design/hostrun.md describes how the host uses them.
	BeginBefore time.Time `json:"beginBefore,omitzero"`
	BootID      string    `json:"bootID,omitempty"`

	// Command is a line for the host's /bin/sh. Args are a program and its arguments, executed without a shell. Exactly
	// one of them is set.
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	// SSH is set if the host is outside the cluster, and is reached over SSH.
	SSH *SSH `json:"ssh,omitempty"`
	// User is the name or number of the host user who runs the command.
	User string `json:"user"`
	// Dir is the working directory: an absolute path on the host that the user must be able to enter.
	Dir string `json:"dir"`
	// Envs are environment variables as KEY=value. A later entry overrides an earlier one.
	Envs []string `json:"envs,omitempty"`
	// SecretEnvs maps variables to files that contain their values. They override Envs.
	SecretEnvs map[string]string `json:"secretEnvs,omitempty"`

	// TimeoutSeconds is how long the command may run; 0 means no limit.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
	// GraceSeconds is how long the command may take to end after a cancellation or a timeout. The grace period of the
	// pod must be about 10 seconds longer.
	GraceSeconds int `json:"graceSeconds"`
}

// SSH is how to reach a host outside the cluster. The files with the private key and the host keys are in the directory
// of the Secrets.
type SSH struct {
	// Name is the name of the host, and Secret the name of the user's Secret, for messages.
	Name   string `json:"name"`
	Secret string `json:"secret"`
	// Host and Port are the address of the SSH server.
	Host string `json:"host"`
	Port string `json:"port"`
	// ConnectBefore is when the SSH server must have accepted a connection.
	ConnectBefore time.Time `json:"connectBefore,omitzero"`
}

// Names of the files with the private key and the host keys. They cannot be names of variables, so they are different
// from those of all values of Secrets.
const (
	SSHKeyFile   = "ssh-privatekey"
	SSHKnownFile = "ssh-known-hosts"
)

// NewOrder returns an order with all defaults, but without a command.
func NewOrder(uid string, run int64, created time.Time) Order {
	return Order{UID: uid, Run: run, Created: created, User: defaultUser, Dir: defaultDir, GraceSeconds: defaultGrace}
}

const (
	defaultUser  = "root"
	defaultDir   = "/"
	defaultGrace = 10
)
