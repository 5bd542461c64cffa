// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/opcrew/opcrew/internal/agents/hostrun/tree"
	"github.com/opcrew/opcrew/internal/agents/shared/order"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// Run runs one of the three processes of package hostrun. The runner returns an error only if it could not report the
// result of the command.
func Run(ctx context.Context, o Options) error {
	switch o.Stage {
	case hostStage:
		return runStage(ctx, openLedger)
	case shimStage:
		return runShim()
	}
	return (&runner{options: o, stage: stageArgs(hostStage)}).run(ctx)
}

// runner is the process in the container, which the kubelet watches.
type runner struct {
	options Options
	stage   []string // arguments with which the process on the host starts
}

// run opens the file for the result first. If that fails, it does not start the command, because it could not report
// the result.
func (r *runner) run(ctx context.Context) error {
	// A restarted kubelet may send the signal a second time. Notify catches it, because it must not end this process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT)
	file, err := os.OpenFile(r.options.Result, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("open the result file: %w", err)
	}
	_, err = file.Write(r.carryOut(ctx))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// carryOut executes the order (the description of a command) and returns the encoded result.
func (r *runner) carryOut(ctx context.Context) []byte {
	work, refusal := r.prepare()
	if refusal != nil {
		return hostjob.EncodeResult(*refusal)
	}
	if err := tree.Adopt(); err != nil {
		return hostjob.EncodeResult(*hostjob.Refuse(hostjob.ReasonNoHost, "%v", err))
	}
	stage, err := r.start()
	if err != nil {
		return hostjob.EncodeResult(*hostjob.Refuse(hostjob.ReasonNoHost, "the host cannot be entered: %v", err))
	}
	return stage.follow(ctx, work)
}

// prepare reads the order (the description of a command) and its Secrets. It refuses orders that are invalid on any
// host.
func (r *runner) prepare() (*work, *hostjob.Result) {
	o, secrets, refusal := order.Read(r.options.Order, r.options.Secrets)
	if refusal == nil && o.SSH != nil {
		refusal = hostjob.RefuseOrder(errors.New("the order is for a host that is reached over SSH"))
	}
	return &work{Order: o, Markers: r.options.Markers, Secrets: secrets}, refusal
}
