// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/shared/mask"
	"github.com/opcrew/opcrew/internal/agents/shared/order"
	"github.com/opcrew/opcrew/internal/agents/sshrun/script"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// Run executes the order. It returns an error only if it could not report the result of the command. It opens the file
// for the result first. If that fails, it does not start the command.
func Run(ctx context.Context, o Options) error {
	// A restarted kubelet may send the signal a second time. Notify catches it, because it must not end this process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT)
	file, err := os.OpenFile(o.Result, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("open the result file: %w", err)
	}
	_, err = file.Write(carryOut(ctx, o, usual(), os.Stdout))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// runner runs the command of one order.
type runner struct {
	limits
	clock  clock.Clock
	order  hostjob.Order
	script script.Script
	login  login
	log    io.Writer
	// target names the host in messages.
	target string
}

// carryOut executes the order, and returns the encoded result.
func carryOut(ctx context.Context, o Options, l limits, log io.Writer) []byte {
	r, refusal := prepare(o)
	if refusal != nil {
		return hostjob.EncodeResult(*refusal)
	}
	r.limits, r.clock, r.log = l, clock.RealClock{}, log
	result := r.attempt(ctx)
	result.Message = mask.Text(result.Message, r.values()...)
	return hostjob.EncodeResult(*result)
}

// prepare reads the order and the files of its Secret. It refuses what no SSH server can carry out.
func prepare(o Options) (*runner, *hostjob.Result) {
	work, secrets, refusal := order.Read(o.Order, o.Secrets)
	switch {
	case refusal != nil:
		return nil, refusal
	case work.SSH == nil:
		return nil, hostjob.RefuseOrder(errors.New("the order is for a node, and not for a host that is reached over SSH"))
	}
	if name := script.Reserved(work); name != "" {
		return nil, hostjob.Refuse(hostjob.ReasonNotExecuted, "a shell cannot set the variable %.64s to any value; use a variable with another name", name)
	}
	r := &runner{order: work, script: script.Script{Order: work, Secrets: secrets, Word: "opcrew-" + rand.Text()}}
	r.target = fmt.Sprintf("%s (%s)", work.SSH.Name, address(work.SSH))
	r.login, refusal = readLogin(o.Secrets, work)
	return r, refusal
}

// values returns the values of Secrets, which must not appear in messages or output.
func (r *runner) values() []string { return slices.Collect(maps.Values(r.script.Secrets)) }

// attempt connects to the host, and runs the command there unless the host has a marker of this run.
func (r *runner) attempt(ctx context.Context) *hostjob.Result {
	text, late := r.script.Run(), r.late()
	if late {
		text = r.script.Look()
	}
	l, refusal := r.connect(ctx)
	switch {
	case refusal != nil && late:
		return r.tooLate(refusal.Message)
	case refusal != nil:
		return refusal
	}
	defer l.close()
	x, err := l.start(text)
	if err != nil {
		return hostjob.Refuse(hostjob.ReasonNoConnect, "the command was not started, because %s did not start a shell: %v", r.target, err)
	}
	return r.follow(ctx, l, x)
}

// late reports whether the time in which the command had to start has passed. Then an earlier container of this pod may
// have run the command on a machine that has lost its marker since, for example because it was reinstalled.
func (r *runner) late() bool {
	before := r.order.SSH.ConnectBefore
	return !before.IsZero() && r.clock.Now().After(before.Add(r.slack))
}

// tooLate returns the result of a run that must not start any more, and of which the host has no record.
func (r *runner) tooLate(why string) *hostjob.Result {
	return hostjob.Doubt(hostjob.ReasonNoResult, "run %d had to start before %s, and %s; it is unknown whether the command ran on %s before, so it is not started now",
		r.order.Run, r.order.SSH.ConnectBefore.UTC().Format(time.RFC3339), why, r.target)
}
