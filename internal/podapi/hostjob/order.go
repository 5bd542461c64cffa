// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import "time"

// Order is a command to run. NewOrder and ParseOrder set the defaults of missing fields.
type Order struct {
	// UID of the Activity. With Run it names the marker on the host.
	UID string `json:"uid"`
	// Run counts the runs that were asked for, from 1.
	Run int64 `json:"run"`
	// Created is when the Activity was created, by the clock of the API server.
	Created time.Time `json:"created"`
	// ForgetBefore, if any, lets the host forget runs of Activities that were created before. It must
	// not be later than Created of an Activity that may still have a pod on the host, which could
	// run again without its marker.
	ForgetBefore time.Time `json:"forgetBefore,omitzero"`

	// BeginBefore, if any, is the deadline of the start, and BootID the boot of the host when the
	// order was given. docs/design/hostrun.md has how the host uses them.
	BeginBefore time.Time `json:"beginBefore,omitzero"`
	BootID      string    `json:"bootID,omitempty"`

	// Command is run by the host's /bin/sh; Args are executed without a shell.
	// An order has one of them.
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	// User is a name or a number that the host knows.
	User string `json:"user"`
	// Dir is the working directory, absolute on the host, entered as the user.
	Dir string `json:"dir"`
	// Envs are KEY=value; a later one wins.
	Envs []string `json:"envs,omitempty"`
	// SecretEnvs are variables whose values are in files; they win over Envs.
	SecretEnvs map[string]string `json:"secretEnvs,omitempty"`

	// TimeoutSeconds limits how long the command may run; 0 means no limit.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
	// GraceSeconds is how long the command may take to end after a cancellation or a timeout. The
	// pod's own grace period must be some 10 seconds longer.
	GraceSeconds int `json:"graceSeconds"`
}

// NewOrder returns an order with all defaults and nothing to run.
func NewOrder(uid string, run int64, created time.Time) Order {
	return Order{UID: uid, Run: run, Created: created, User: defaultUser, Dir: defaultDir, GraceSeconds: defaultGrace}
}

const (
	defaultUser  = "root"
	defaultDir   = "/"
	defaultGrace = 10
)
