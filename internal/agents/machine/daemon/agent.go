// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/apply"
	"github.com/opcrew/opcrew/internal/agents/machine/contact"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/journal"
	"github.com/opcrew/opcrew/internal/agents/machine/drift"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Cluster is the API server.
type Cluster interface {
	// Annotations returns the annotations of the Node as they were seen last; nil if the Node has not been seen.
	Annotations() map[string]string
	// Write sets annotations of the Node, unless the order or one of them has changed. An empty value removes one.
	Write(ctx context.Context, annotations map[string]string) error
	// Config returns an encoded configuration. The error is a cluster.Refusal if another attempt would not help.
	Config(ctx context.Context, name string) ([]byte, error)
}

// System is the kernel of the host.
type System interface {
	Now() (trial.Now, error)
	// CommandLine returns the kernel command line of this boot.
	CommandLine() (string, error)
	// Started reports whether the host has started everything that a boot starts.
	Started(ctx context.Context) bool
	// Reboot begins a reboot. It returns before the host goes down.
	Reboot(ctx context.Context) error
}

// Files reports changes of files.
type Files interface{ Set(l ledger.Ledger) error }

// Agent is the machine agent.
type Agent struct {
	Host    *apply.Host
	Trial   *trial.Store
	Journal *journal.Store
	Cluster Cluster
	// Contacts measures which contacts the node has.
	Contacts func(ctx context.Context, peers []machineorder.Peer) contact.Contacts
	System   System
	Files    Files
	Log      *slog.Logger

	memory
}

// memory is what a process remembers. A new process begins without it.
type memory struct {
	now trial.Now
	// started is the time since boot of the first turn, and answered that of the last contact during a trial.
	started, answered time.Duration
	// booting is the time since boot until which the host was still starting.
	booting           time.Duration
	before            sample
	check             *decide.Check
	scanned           *time.Duration
	changed           bool
	drift, unreadable []string
	repairs           drift.Repairs
	// held are the steps that are not to be repeated for some time.
	held map[string]hold
}

// hold is how often a step failed in succession, and until when it is not to be repeated.
type hold struct {
	failures int
	until    time.Duration
}

// reportKey identifies the step that writes the report.
const reportKey = string(decide.Report)

// tick reads the clock of the host. A step can take minutes.
func (a *Agent) tick() bool {
	now, err := a.System.Now()
	if err != nil {
		a.Log.Error("The clock of the host cannot be read", "error", err.Error())
		return false
	}
	a.now = now
	return true
}
