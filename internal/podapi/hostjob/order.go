// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import "time"

// Order is a command to run. NewOrder and ParseOrder set the defaults of missing fields.
type Order struct {
	// UID is the UID of the Activity. UID and Run name the marker on the host.
	UID string `json:"uid"`
	// Run is the number of the requested run, from 1.
	Run int64 `json:"run"`
	// Created is the Activity's creation time, by the clock of the API server.
	Created time.Time `json:"created"`
	// ForgetBefore lets the host forget runs of Activities that were created before this time; optional. It must not be
	// later than Created of an Activity that may still have a pod on the host. Otherwise the pod could run the command
	// again, as its marker is gone.
	ForgetBefore time.Time `json:"forgetBefore,omitzero"`

	// BeginBefore is the deadline for the start, and BootID identifies the host's boot at the time of the order; both
	// are optional. docs/design/hostrun.md describes how the host uses them.
	BeginBefore time.Time `json:"beginBefore,omitzero"`
	BootID      string    `json:"bootID,omitempty"`

	// Command is run by the host's /bin/sh, while Args are executed without a shell. Exactly one of them is set.
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	// User is the name or number of a user on the host.
	User string `json:"user"`
	// Dir is the working directory, an absolute path on the host that the user must be able to enter.
	Dir string `json:"dir"`
	// Envs are KEY=value; a later entry overrides an earlier one.
	Envs []string `json:"envs,omitempty"`
	// SecretEnvs maps variables to files with their values. They override Envs.
	SecretEnvs map[string]string `json:"secretEnvs,omitempty"`

	// TimeoutSeconds limits how long the command may run; 0 means no limit.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
	// GraceSeconds limits how long the command may take to end after a cancellation or a timeout. The pod's own grace
	// period must be about 10 seconds longer.
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
